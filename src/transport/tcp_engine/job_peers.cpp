// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp_engine/job_peers.hpp"

#include "transport/auth/nonce.hpp"

#include <cstring>
#include <utility>

namespace zipmpi::transport::tcp_engine {
namespace {

constexpr std::string_view address_magic = "zipmpi tcp 1\n";
constexpr int32_t session_mask = 0x3fffffff; // sums of a session and resets are positive

} // namespace

std::string address_text(const stream::ContactInfo& contact) {
    return std::string(address_magic).append(reinterpret_cast<const char*>(&contact), sizeof contact);
}

bool parse_address(std::string_view text, stream::ContactInfo& contact) {
    if (!text.starts_with(address_magic) || text.size() != address_magic.size() + sizeof contact)
        return false;
    std::memcpy(&contact, text.data() + address_magic.size(), sizeof contact);
    return contact.address_count > 0 && contact.address_count <= stream::ContactInfo::max_addresses;
}

JobPeers::JobPeers(const NetworkConfig& settings, ConnectionListener& listener)
    : PeerSet(0)
    , own_id_(settings.world_rank)
    , detect_from_(settings.detect_failures ? 0 : settings.detect_from)
    , session_(static_cast<int32_t>(auth::random_token()) & session_mask)
    , keys_(settings.keys)
    , resolver_(*settings.resolver)
    , listener_(listener) {}

int JobPeers::number_if_known(int id) const {
    const auto found = by_id_.find(id);
    return found != by_id_.end() ? found->second : none;
}

int JobPeers::number_for(int id) {
    if (const int known = number_if_known(id); known != none) return known;
    const int peer = add_link();
    by_id_.emplace(id, peer);
    peers_.emplace_back().id = id;
    return peer;
}

bool JobPeers::resolve(int peer) {
    JobPeer& p = at(peer);
    if (!p.has_address) p.has_address = parse_address(resolver_.find(p.id), p.contact);
    p.contact.name = {0, p.id, 0};
    return p.has_address;
}

void JobPeers::reset(int peer) {
    JobPeer& p = at(peer);
    if (link(peer).failed) p.has_address = false;
    ++p.resets;
    link(peer) = {};
}

// Names the connection attempt too: the peer then knows that earlier connections are no longer used.
stream::ProcessName JobPeers::own_name(int peer) const { return {0, own_id_, session_ + at(peer).resets}; }

int JobPeers::find(const stream::ProcessName& name) {
    return name.job == 0 && name.rank >= 0 && name.rank != own_id_ ? number_for(name.rank) : none;
}

std::string_view JobPeers::key_between(int a, int b) const {
    const auth::Key key = keys_.between(a, b);
    return {reinterpret_cast<const char*>(key.data()), key.size()};
}

bool JobPeers::admit(int peer, const stream::Hello& hello) {
    if (at(peer).abandoned) return false;
    const int32_t before = std::exchange(at(peer).session, hello.from.unused);
    const bool restarts = before != 0 && before != hello.from.unused; // or has reset its connections
    if (link(peer).is_lost() && !restarts) return false;
    if (restarts) listener_.peer_reset(peer_of(peer));
    link(peer).failed = false;
    link(peer).lost_ns = 0;
    return true;
}

} // namespace zipmpi::transport::tcp_engine
