// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Handshake messages between two ranks: creation and verification. No field is used before the authentication
// code is verified, and nothing else of a peer is read before its handshake. (UCX does: its TCP transport
// reads the headers of any connection.) Pure functions.
#pragma once

#include "transport/auth/key.hpp"
#include "wire/net_layout.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace zipmpi::transport::auth {

inline constexpr std::array<uint8_t, wire::nonce_bytes> no_nonce{};

// What a handshake message says; see wire::HandshakeMessage.
struct Handshake {
    uint16_t kind;
    int from, to;
    uint64_t token = 0;
    std::span<const uint8_t, wire::nonce_bytes> nonce{no_nonce};
};

// Returns the bytes to send. address: of the sender, in a hello.
std::string sign(const Handshake& handshake, std::string_view address, const HandshakeKeys& keys);

struct VerifiedMessage {
    wire::HandshakeMessage message{};
    std::string_view address; // within the bytes that were read
};

// Returns false if the bytes are not a handshake message of this kind for this rank, or the MAC does not
// match.
bool verify(std::span<const std::byte> bytes, uint16_t kind, int own_rank, const HandshakeKeys& keys,
            VerifiedMessage& out);

} // namespace zipmpi::transport::auth
