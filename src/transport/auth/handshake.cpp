// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/auth/handshake.hpp"

#include "base/auth.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::transport::auth {
namespace {

// What the MAC covers: the message with a zero MAC field, and the address.
std::string mac_text(wire::HandshakeMessage message, std::string_view address) {
    std::memset(message.mac, 0, sizeof message.mac);
    return std::string(message_bytes(message)).append(address);
}

} // namespace

std::string sign(const Handshake& handshake, std::string_view address, const HandshakeKeys& keys) {
    if (address.size() > wire::net_address_max) return {};
    wire::HandshakeMessage message{};
    message.kind = handshake.kind;
    message.from = handshake.from;
    message.to = handshake.to;
    message.token = handshake.token;
    std::ranges::copy(handshake.nonce, message.nonce);
    message.magic = wire::net_magic;
    message.address_bytes = static_cast<uint16_t>(address.size());
    const Digest mac = mac_of(keys.between(message.from, message.to), mac_text(message, address));
    static_assert(sizeof mac == sizeof message.mac);
    std::memcpy(message.mac, mac.data(), sizeof message.mac);
    return std::string(message_bytes(message)).append(address);
}

bool verify(std::span<const std::byte> bytes, uint16_t kind, int own_rank, const HandshakeKeys& keys,
            VerifiedMessage& out) {
    if (bytes.size() < sizeof out.message) return false;
    std::memcpy(&out.message, bytes.data(), sizeof out.message);
    const wire::HandshakeMessage& g = out.message;
    const auto rest = bytes.subspan(sizeof g);
    if (g.magic != wire::net_magic || g.kind != kind || g.to != own_rank || g.from < 0 ||
        g.address_bytes != rest.size() || rest.size() > wire::net_address_max)
        return false;
    out.address = {reinterpret_cast<const char*>(rest.data()), rest.size()};
    return is_mac_of(g.mac, keys.between(g.from, own_rank), mac_text(g, out.address));
}

} // namespace zipmpi::transport::auth
