// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Bytes in a file of the operating system: reads and writes of many pieces, locks of ranges, and what errno
// means to MPI. Short pieces that lie near to each other move as one.
//
// Threads: any; nothing here is shared but the file.
#pragma once

#include "base/err.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace zipmpi::core::io {

struct Piece {
    int64_t at = 0; // in the file
    std::byte* data = nullptr;
    uint64_t bytes = 0;
};
// In the order of their places in the file; of reads some may overlap, of writes the last one wins.
using Pieces = std::span<const Piece>;

inline constexpr int64_t not_reached = std::numeric_limits<int64_t>::max();

// Where the file ended while it was read goes to `end`, not_reached if it did not. What lies behind is left
// as it is.
Err read_pieces(int fd, Pieces pieces, int64_t& end);

// Gaps between pieces are left as they are: each stretch is written for itself, or, if gaps may be filled,
// what is there is read and written again under a lock.
enum class Gaps { keep, fill };
Err write_pieces(int fd, Pieces pieces, Gaps gaps);

// A part of a file that others who ask do not read (exclusive) or change meanwhile.
class RangeLock {
  public:
    RangeLock() = default;
    ~RangeLock() { release(); }
    RangeLock(const RangeLock&) = delete;
    RangeLock& operator=(const RangeLock&) = delete;
    Err take(int fd, int64_t from, int64_t bytes, bool exclusive);
    void release();

  private:
    int fd_ = -1;
    int64_t from_ = 0;
    int64_t bytes_ = 0;
};

// Of a call that has just failed: "could not OPEN NAME: reason".
[[gnu::cold]] Err system_error(const char* what, const char* name);

} // namespace zipmpi::core::io
