// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/greeting.hpp"

#include <cstring>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace zipmpi::transport::ucx {
namespace {

// Over the greeting with a proof of zeros, and the address.
bool prove(const wire::Greeting& greeting, std::string_view address, Key key,
           uint8_t (&proof)[wire::proof_bytes]) {
    uint8_t text[sizeof(wire::Greeting) + wire::net_address_max] = {};
    if (address.size() > wire::net_address_max) return false;
    wire::Greeting bare = greeting;
    std::memset(bare.proof, 0, sizeof bare.proof);
    std::memcpy(text, &bare, sizeof bare);
    if (!address.empty()) std::memcpy(text + sizeof bare, address.data(), address.size());
    unsigned int length = 0;
    return HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), text, sizeof bare + address.size(),
                proof, &length) != nullptr &&
           length == wire::proof_bytes;
}

} // namespace

std::string seal(wire::Greeting greeting, std::string_view address, Key key) {
    greeting.magic = wire::net_magic;
    greeting.address_bytes = static_cast<uint16_t>(address.size());
    if (!prove(greeting, address, key, greeting.proof)) return {};
    std::string bytes(reinterpret_cast<const char*>(&greeting), sizeof greeting);
    bytes += address;
    return bytes;
}

bool unseal(std::span<const std::byte> bytes, uint16_t kind, int own_rank, Key key, Opened& out) {
    if (bytes.size() < sizeof out.greeting) return false;
    std::memcpy(&out.greeting, bytes.data(), sizeof out.greeting);
    const wire::Greeting& g = out.greeting;
    const auto rest = bytes.subspan(sizeof g);
    if (g.magic != wire::net_magic || g.kind != kind || g.to != own_rank || g.from < 0 ||
        g.address_bytes != rest.size())
        return false;
    out.address = {reinterpret_cast<const char*>(rest.data()), rest.size()};
    uint8_t proof[wire::proof_bytes];
    return prove(g, out.address, key, proof) && CRYPTO_memcmp(proof, g.proof, sizeof proof) == 0;
}

} // namespace zipmpi::transport::ucx
