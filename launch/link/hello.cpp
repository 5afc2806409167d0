// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Only the hash itself is taken from libcrypto, and statically: its general interface loads and relocates
// megabytes, which every job on one host would pay for as well.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "launch/link/hello.hpp"

#include <cerrno>
#include <cstring>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <sys/random.h>

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

using Block = std::array<uint8_t, SHA256_CBLOCK>;

bool hash(const Block& first, const void* second, size_t size, uint8_t* out) {
    SHA256_CTX c;
    return SHA256_Init(&c) == 1 && SHA256_Update(&c, first.data(), first.size()) == 1 &&
           SHA256_Update(&c, second, size) == 1 && SHA256_Final(out, &c) == 1;
}

// HMAC (RFC 2104) with SHA-256; the key is shorter than a block.
bool prove(const JobKey& key, const Covered& covered, Proof& out) {
    Block inner{};
    Block outer{};
    for (size_t i = 0; i < inner.size(); ++i) {
        const uint8_t k = i < key.size() ? key[i] : 0;
        inner[i] = k ^ 0x36;
        outer[i] = k ^ 0x5c;
    }
    Proof digest{};
    return hash(inner, &covered, sizeof covered, digest.data()) &&
           hash(outer, digest.data(), digest.size(), out.data());
}

// In a time that does not depend on where they differ.
bool same(const Proof& a, const Proof& b) { return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0; }

template <class Message>
std::string bytes_of(const Message& m) {
    return {reinterpret_cast<const char*>(&m), sizeof m};
}

} // namespace

bool fill_random(void* bytes, size_t size) {
    auto* at = static_cast<char*>(bytes);
    while (size > 0) {
        const ssize_t n = getrandom(at, size, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        size -= static_cast<size_t>(n);
    }
    return true;
}

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
    Proof expected{};
    HelloReply reply{};
    if (!prove(key_, covered, expected) || !same(expected, claim.proof)) return refuse();
    // From here on the peer is one of us; a wrong magic is a mistake and not an attack.
    if (claim.magic != magic || claim.role != static_cast<uint32_t>(Role::daemon)) return refuse();
    covered.direction = accepts;
    if (!prove(key_, covered, reply.proof)) return refuse();
    out_ = bytes_of(reply);
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
        return state_ =
                   same(message<HelloReply>().proof, expected_) ? HelloState::proven : HelloState::refused;
    }
    const auto opening = message<HelloOpening>();
    Covered covered{connects, claim_.role, claim_.node, opening.nonce, claim_.nonce};
    if (opening.magic != magic || !prove(key_, covered, claim_.proof)) return refuse();
    covered.direction = accepts;
    if (!prove(key_, covered, expected_)) return refuse();
    claimed_ = true;
    wanted_ = sizeof(HelloReply);
    out_ = bytes_of(claim_);
    return state_;
}

} // namespace zipmpi::launch
