// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/interjob/external_peers.hpp"

#include "transport/interjob/job_handshake.hpp"

namespace zipmpi::interjob {

int ExternalPeers::add(const ContactInfo& contact, const std::string& key) {
    keys_[key_id(key)] = key;
    const auto [it, is_new] = by_name_.emplace(contact.name, count());
    ExternalPeer& peer = is_new ? peers_.emplace_back() : at(it->second);
    peer.contact = contact;
    peer.key = key;
    peer.failed = false; // it has just communicated
    return it->second;
}

int ExternalPeers::find(const ProcessName& name) const {
    const auto it = by_name_.find(name);
    return it != by_name_.end() ? it->second : none;
}

const std::string* ExternalPeers::find_key(uint64_t id) const {
    const auto it = keys_.find(id);
    return it != keys_.end() ? &it->second : nullptr;
}

bool ExternalPeers::add_reference(int external, uint32_t context) {
    ExternalPeer& peer = at(external);
    ++peer.contexts[context];
    if (peer.references++ != 0) return false;
    peer.left = false;
    return true;
}

bool ExternalPeers::remove_reference(int external, uint32_t context) {
    ExternalPeer& peer = at(external);
    const auto found = peer.contexts.find(context);
    if (found == peer.contexts.end()) return false;
    if (--found->second == 0) peer.contexts.erase(found);
    return --peer.references == 0;
}

bool ExternalPeers::may_use(int external, uint32_t context) const {
    constexpr uint32_t variants = 1U << 31 | 1U; // contexts of one communicator differ in these bits
    const uint32_t of_comm = context & ~variants;
    if (at(external).contexts.contains(of_comm)) return true;
    return (of_comm & wire::interjob_context_bit) != 0 && !is_context_in_use_(of_comm);
}

int ExternalPeers::take_failure() {
    if (failures_.empty()) return none;
    const int external = failures_.back();
    failures_.pop_back();
    return external;
}

} // namespace zipmpi::interjob
