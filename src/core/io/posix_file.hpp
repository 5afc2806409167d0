// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// POSIX file access: reads and writes of segment lists, range locks, and mapping of errno to MPI errors.
// Short segments close to each other are moved together.
//
// Threads: any; nothing is shared except the file.
#pragma once

#include "base/err.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace zipmpi::core::io {

struct FileSegment {
    int64_t at = 0; // file offset
    std::byte* data = nullptr;
    uint64_t bytes = 0;
};
// Ordered by file offset; reads may overlap, of overlapping writes the last one wins.
using FileSegments = std::span<const FileSegment>;

inline constexpr int64_t eof_not_reached = std::numeric_limits<int64_t>::max();

// `end` is set to the file offset at which the file ended, or eof_not_reached. Memory beyond it is unchanged.
Err read_segments(int fd, FileSegments segments, int64_t& end);

// Treatment of holes between written segments: keep writes every segment separately; sieve reads the range,
// merges and writes it back under a lock.
enum class Holes { keep, sieve };
Err write_segments(int fd, FileSegments segments, Holes holes);

// Lock of a file range. Shared: other holders may read but not write; exclusive: neither. Binds only code
// that takes the lock.
class RangeLock {
  public:
    RangeLock() = default;
    ~RangeLock() { release(); }
    RangeLock(const RangeLock&) = delete;
    RangeLock& operator=(const RangeLock&) = delete;
    Err acquire(int fd, int64_t from, int64_t bytes, bool exclusive);
    void release();

  private:
    int fd_ = -1;
    int64_t from_ = 0;
    int64_t bytes_ = 0;
};

// Error of a system call that has just failed: "could not OPEN NAME: reason".
[[gnu::cold]] Err system_error(const char* what, const char* name);

} // namespace zipmpi::core::io
