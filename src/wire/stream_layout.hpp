// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Set-up of a TCP connection for frames between a rank and a gateway; docs/wire/bridge.md.
#pragma once

#include "wire/net_layout.hpp"

#include <cstdint>

namespace zipmpi::wire {

// From a gateway to a rank, by UCX: token, then StreamOffer with the listening address.
inline constexpr unsigned net_stream_offer = 17;
// Handshake over the connection. The hello has the token of the offer and a new nonce; the reply repeats
// both.
inline constexpr unsigned net_stream_hello = 18;
inline constexpr unsigned net_stream_hello_reply = 19;

struct StreamOffer {
    uint64_t token; // valid for one connection
    uint8_t address[4];
    uint16_t port; // 0: no connection
    uint16_t reserved;
};
static_assert(sizeof(StreamOffer) == 16);

} // namespace zipmpi::wire
