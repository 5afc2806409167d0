// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/auth/handshake.hpp"

#include <cstring>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace zipmpi::transport::auth {
namespace {

// The MAC covers the message with a zero MAC field, and the address.
bool compute_mac(const wire::HandshakeMessage& message, std::string_view address, Key key,
                 uint8_t (&mac)[wire::mac_bytes]) {
    uint8_t text[sizeof(wire::HandshakeMessage) + wire::net_address_max] = {};
    if (address.size() > wire::net_address_max) return false;
    wire::HandshakeMessage bare = message;
    std::memset(bare.mac, 0, sizeof bare.mac);
    std::memcpy(text, &bare, sizeof bare);
    if (!address.empty()) std::memcpy(text + sizeof bare, address.data(), address.size());
    unsigned int length = 0;
    return HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), text, sizeof bare + address.size(),
                mac, &length) != nullptr &&
           length == wire::mac_bytes;
}

} // namespace

std::string sign(wire::HandshakeMessage message, std::string_view address, Key key) {
    message.magic = wire::net_magic;
    message.address_bytes = static_cast<uint16_t>(address.size());
    if (!compute_mac(message, address, key, message.mac)) return {};
    std::string bytes(reinterpret_cast<const char*>(&message), sizeof message);
    bytes += address;
    return bytes;
}

bool verify(std::span<const std::byte> bytes, uint16_t kind, int own_rank, Key key, VerifiedMessage& out) {
    if (bytes.size() < sizeof out.message) return false;
    std::memcpy(&out.message, bytes.data(), sizeof out.message);
    const wire::HandshakeMessage& g = out.message;
    const auto rest = bytes.subspan(sizeof g);
    if (g.magic != wire::net_magic || g.kind != kind || g.to != own_rank || g.from < 0 ||
        g.address_bytes != rest.size())
        return false;
    out.address = {reinterpret_cast<const char*>(rest.data()), rest.size()};
    uint8_t mac[wire::mac_bytes];
    return compute_mac(g, out.address, key, mac) && CRYPTO_memcmp(mac, g.mac, sizeof mac) == 0;
}

} // namespace zipmpi::transport::auth
