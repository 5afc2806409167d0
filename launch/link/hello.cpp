// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/link/hello.hpp"

#include "base/sha256.hpp"

#include <cstring>

namespace zipmpi::launch {
namespace {

constexpr std::array<char, 8> magic = {'z', 'i', 'p', 'm', 'p', 'i', 'h', '1'};

// What a proof covers. Fixed size, so that no two meanings have the same bytes.
struct Covered {
    std::array<char, 8> direction;
    uint32_t role;
    uint32_t node;
    Nonce acceptor;
    Nonce connector;
};
static_assert(sizeof(Covered) == 80);
constexpr std::array<char, 8> connects = {'c', 'o', 'n', 'n', 'e', 'c', 't', 0};
constexpr std::array<char, 8> accepts = {'a', 'c', 'c', 'e', 'p', 't', '.', 0};

template <class Message>
std::string bytes_of(const Message& m) {
    return {reinterpret_cast<const char*>(&m), sizeof m};
}

Proof prove(const JobKey& key, const Covered& covered) {
    return hmac_sha256({reinterpret_cast<const char*>(key.data()), key.size()}, bytes_of(covered));
}

} // namespace

bool Hello::collect(std::string_view bytes) {
    if (state_ != HelloState::going_on || bytes.size() > wanted()) {
        state_ = HelloState::refused;
        return false;
    }
    in_.append(bytes);
    return in_.size() == wanted_;
}

template <class Message>
Message Hello::message() {
    Message m;
    std::memcpy(&m, in_.data(), sizeof m);
    in_.clear();
    return m;
}

HelloAcceptor::HelloAcceptor(const JobKey& key, const Nonce& nonce)
    : Hello(key, sizeof(HelloClaim))
    , nonce_(nonce) {
    out_ = bytes_of(HelloOpening{magic, nonce});
}

HelloState HelloAcceptor::feed(std::string_view bytes) {
    if (!collect(bytes)) return state_;
    const auto claim = message<HelloClaim>();
    Covered covered{connects, claim.role, claim.node, nonce_, claim.nonce};
    if (!same_digest(prove(key_, covered), claim.proof)) return refuse();
    // From here on the peer is one of us; a wrong magic is a mistake and not an attack.
    if (claim.magic != magic || claim.role != static_cast<uint32_t>(Role::daemon)) return refuse();
    covered.direction = accepts;
    out_ = bytes_of(HelloReply{prove(key_, covered)});
    node_ = claim.node;
    wanted_ = 0;
    return state_ = HelloState::proven;
}

HelloConnector::HelloConnector(const JobKey& key, const Nonce& nonce, uint32_t node)
    : Hello(key, sizeof(HelloOpening)) {
    claim_ = {magic, static_cast<uint32_t>(Role::daemon), node, nonce, {}};
}

HelloState HelloConnector::feed(std::string_view bytes) {
    if (!collect(bytes)) return state_;
    if (claimed_) {
        wanted_ = 0;
        return state_ = same_digest(message<HelloReply>().proof, expected_) ? HelloState::proven
                                                                            : HelloState::refused;
    }
    const auto opening = message<HelloOpening>();
    Covered covered{connects, claim_.role, claim_.node, opening.nonce, claim_.nonce};
    if (opening.magic != magic) return refuse();
    claim_.proof = prove(key_, covered);
    covered.direction = accepts;
    expected_ = prove(key_, covered);
    claimed_ = true;
    wanted_ = sizeof(HelloReply);
    out_ = bytes_of(claim_);
    return state_;
}

} // namespace zipmpi::launch
