// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How a rank and a gateway come to a TCP connection for frames; docs/wire/bridge.md.
#pragma once

#include "wire/net_layout.hpp"

#include <cstdint>

namespace zipmpi::wire {

// From a gateway to a rank, by UCX: where it listens. A pass, then StreamOffer.
inline constexpr unsigned net_offer = 17;
// Greetings over the connection. The first has the token of the offer as its pass and a nonce of its own; the
// answer has both.
inline constexpr unsigned net_stream = 18;
inline constexpr unsigned net_stream_answer = 19;

struct StreamOffer {
    uint64_t token; // good for one connection
    uint8_t address[4];
    uint16_t port; // 0: there will be no connection
    uint16_t none;
};
static_assert(sizeof(StreamOffer) == 16);

} // namespace zipmpi::wire
