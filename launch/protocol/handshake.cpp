// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/protocol/handshake.hpp"

#include "base/auth.hpp"

#include <cstring>

namespace zipmpi::launch {
namespace {

constexpr std::array<char, 8> magic = {'z', 'i', 'p', 'm', 'p', 'i', 'h', '1'};

// Input of the authentication codes. Fixed size, so that no two messages have the same bytes.
struct MacInput {
    std::array<char, 8> direction;
    uint32_t role;
    uint32_t node;
    Nonce acceptor;
    Nonce connector;
};
static_assert(sizeof(MacInput) == 80);
constexpr std::array<char, 8> connects = {'c', 'o', 'n', 'n', 'e', 'c', 't', 0};
constexpr std::array<char, 8> accepts = {'a', 'c', 'c', 'e', 'p', 't', '.', 0};

template <class Message>
std::string bytes_of(const Message& m) {
    return {reinterpret_cast<const char*>(&m), sizeof m};
}

Mac compute_mac(const JobKey& key, const MacInput& covered) { return mac_of(key, message_bytes(covered)); }

} // namespace

bool Handshake::collect(std::string_view bytes) {
    if (state_ != HandshakeState::in_progress || bytes.size() > bytes_needed()) {
        state_ = HandshakeState::rejected;
        return false;
    }
    in_.append(bytes);
    return in_.size() == message_bytes_;
}

template <class Message>
Message Handshake::message() {
    Message m;
    std::memcpy(&m, in_.data(), sizeof m);
    in_.clear();
    return m;
}

HandshakeAcceptor::HandshakeAcceptor(const JobKey& key, const Nonce& nonce)
    : Handshake(key, sizeof(HandshakeResponse))
    , nonce_(nonce) {
    out_ = bytes_of(HandshakeChallenge{magic, nonce});
}

HandshakeState HandshakeAcceptor::feed(std::string_view bytes) {
    if (!collect(bytes)) return state_;
    const auto claim = message<HandshakeResponse>();
    MacInput covered{connects, claim.role, claim.node, nonce_, claim.nonce};
    if (!same_digest(compute_mac(key_, covered), claim.mac)) return reject();
    // From here on the peer is authenticated; a wrong magic is an error, not an attack.
    if (claim.magic != magic || claim.role != static_cast<uint32_t>(Role::daemon)) return reject();
    covered.direction = accepts;
    out_ = bytes_of(HandshakeConfirm{compute_mac(key_, covered)});
    node_ = claim.node;
    message_bytes_ = 0;
    return state_ = HandshakeState::authenticated;
}

HandshakeConnector::HandshakeConnector(const JobKey& key, const Nonce& nonce, uint32_t node)
    : Handshake(key, sizeof(HandshakeChallenge)) {
    response_ = {magic, static_cast<uint32_t>(Role::daemon), node, nonce, {}};
}

HandshakeState HandshakeConnector::feed(std::string_view bytes) {
    if (!collect(bytes)) return state_;
    if (responded_) {
        message_bytes_ = 0;
        return state_ = same_digest(message<HandshakeConfirm>().mac, expected_)
                            ? HandshakeState::authenticated
                            : HandshakeState::rejected;
    }
    const auto opening = message<HandshakeChallenge>();
    MacInput covered{connects, response_.role, response_.node, opening.nonce, response_.nonce};
    if (opening.magic != magic) return reject();
    response_.mac = compute_mac(key_, covered);
    covered.direction = accepts;
    expected_ = compute_mac(key_, covered);
    responded_ = true;
    message_bytes_ = sizeof(HandshakeConfirm);
    out_ = bytes_of(response_);
    return state_;
}

} // namespace zipmpi::launch
