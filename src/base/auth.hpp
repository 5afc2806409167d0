// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Authentication codes of messages under a shared key: HMAC-SHA-256, compared in constant time. The
// handshakes of daemons, ranks and gateways use it; their nonces come from os/random.hpp.
#pragma once

#include "base/sha256.hpp"

#include <span>
#include <type_traits>

namespace zipmpi {

// The bytes of a message of fixed layout.
template <class Message>
requires std::is_trivially_copyable_v<Message> std::string_view message_bytes(const Message& message) {
    return {reinterpret_cast<const char*>(&message), sizeof message};
}

Digest mac_of(std::span<const uint8_t> key, std::string_view text);
// Constant-time comparison with the code of the text.
bool is_mac_of(std::span<const uint8_t, sizeof(Digest)> mac, std::span<const uint8_t> key,
               std::string_view text);

} // namespace zipmpi
