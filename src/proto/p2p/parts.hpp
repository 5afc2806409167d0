// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A message with gaps that is sent at once in several parts, so that its receiver unpacks the first while the
// sender packs the next. All parts are in the ring before the send returns, one after the other: what a
// receiver has to know of a message whose parts are still coming is one of these per peer.
#pragma once

#include "proto/p2p/match.hpp"

namespace zipmpi::proto {

// No message in parts is longer.
inline constexpr uint64_t longest_in_parts = 1U << 20;

struct Arriving {
    uint64_t bytes = 0; // of the message
    uint64_t moved = 0; // that have come
    // who gets the rest: a receive, or the message that waits for one; none: nobody wants it any more
    wire::OperationId receiver = 0;
    Unexpected* kept = nullptr;

    [[nodiscard]] bool more() const { return moved < bytes; }
};

} // namespace zipmpi::proto
