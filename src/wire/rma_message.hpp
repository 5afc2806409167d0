// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One-sided operations as messages, where the target's memory cannot be reached: a request that the target
// serves, and its reply. Long operations are cut into several requests.
//
//   request: RmaRequest | RmaPiece[pieces] | data
//   reply:   RmaReply | data
#pragma once

#include <cstddef>
#include <cstdint>

namespace zipmpi::wire {

enum class RmaKind : uint8_t { put, get, accumulate, get_accumulate, compare_and_swap };

struct RmaRequest {
    RmaKind kind;
    uint8_t reserved[3];
    uint32_t combine;    // how elements are combined, in the coding of the engine
    uint32_t id;         // of the request, comes back in the reply
    uint32_t pieces;     // that follow
    uint64_t data_bytes; // that follow; compare_and_swap: first what is compared with, then what is stored
};

// A part of the target's window, from its first byte; of a dynamic window, from address 0.
struct RmaPiece {
    uint64_t offset;
    uint64_t bytes;
};

struct RmaReply {
    uint32_t id;
    uint32_t refused; // not 0: the pieces are not in the window, nothing was done
};

static_assert(sizeof(RmaRequest) == 24 && sizeof(RmaPiece) == 16 && sizeof(RmaReply) == 8);

inline constexpr size_t rma_message_bytes = 16384; // the longest request or reply
inline constexpr uint32_t rma_request_pieces = 128;

} // namespace zipmpi::wire
