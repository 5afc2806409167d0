// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/interjob/external_peers.hpp"

#include <cstring>

namespace zipmpi::interjob {

int ExternalPeers::add(const ContactInfo& contact, const std::string& key) {
    keys_[transport::stream::key_id(key)] = key;
    const auto [it, is_new] = by_name_.emplace(contact.name, count());
    if (is_new) static_cast<void>(add_link());
    ExternalPeer& peer = is_new ? peers_.emplace_back() : at(it->second);
    peer.contact = contact;
    peer.key = key;
    link(it->second).failed = false; // it has just communicated
    return it->second;
}

int ExternalPeers::find(const ProcessName& name) {
    const auto it = by_name_.find(name);
    return it != by_name_.end() ? it->second : none;
}

std::string_view ExternalPeers::find_key(const Hello& hello) const {
    const auto it = keys_.find(hello.key);
    return it != keys_.end() ? std::string_view(it->second) : std::string_view();
}

bool ExternalPeers::add_reference(int external, uint32_t context) {
    ExternalPeer& peer = at(external);
    ++peer.contexts[context];
    if (peer.references++ != 0) return false;
    link(external).left = false;
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

// Processes of another job use the contexts of the communicators that they share with this process, no
// others.
bool ExternalPeers::may_send(int external, const wire::Envelope& e, const std::byte* payload) const {
    uint32_t context = e.context;
    switch (e.kind) {
    case wire::MessageKind::eager:
    case wire::MessageKind::rts:
        return may_use(external, context);
    case wire::MessageKind::revoke:
        if (e.inline_bytes != sizeof context) return false;
        std::memcpy(&context, payload, sizeof context);
        return may_use(external, context);
    case wire::MessageKind::context_release:
        return false; // contexts are allocated within a job
    default:
        return true;
    }
}

} // namespace zipmpi::interjob
