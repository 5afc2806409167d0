// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Address and layout of a message in the memory of another process, for CMA copies. A peer with a
// noncontiguous buffer sends its layout as a LayoutRecord; LayoutCache compares it with earlier ones, so that
// only a new layout is compiled.
#pragma once

#include "packing/layout.hpp"
#include "proto/p2p/operation.hpp"

#include <sys/uio.h>
#include <vector>

namespace zipmpi::proto {

struct RemoteBuffer {
    uint64_t address = 0;
    packing::LayoutPtr layout; // null: contiguous
    int64_t elements = 0;      // this and first_byte: as in Operation
    uint64_t first_byte = 0;
};

// Wire form of a noncontiguous operation: number of elements, first byte, serialized layout.
struct LayoutRecord {
    static constexpr size_t max_numbers = 256;
    int64_t numbers[max_numbers];
    size_t used = 0; // 0: the layout does not fit

    explicit LayoutRecord(const Operation& op);
    [[nodiscard]] size_t bytes() const { return used * sizeof(int64_t); }
    [[nodiscard]] const std::byte* data() const { return reinterpret_cast<const std::byte*>(numbers); }
};

class LayoutCache {
  public:
    // Fills in `buffer` from the record of a message of `bytes`. Returns false if the record is invalid.
    bool read(const std::byte* record, size_t record_bytes, uint64_t bytes, RemoteBuffer& buffer);

  private:
    [[nodiscard]] packing::LayoutPtr find_layout(const int64_t* numbers, size_t count);

    struct CachedLayout {
        std::vector<int64_t> numbers;
        packing::LayoutPtr layout;
    };
    static constexpr size_t max_cached = 16;
    std::vector<CachedLayout> cached_;
    size_t oldest_ = 0;
};

// Iterates over a range of a message and lists its segments in local and in remote memory.
class IovPairs {
  public:
    IovPairs(const Operation& here, const RemoteBuffer& there, uint64_t from, uint64_t bytes)
        : local_op_(here)
        , remote_buffer_(there)
        , from_(from)
        , end_(from + bytes) {}

    // Lists the next segments. Returns false at the end of the range.
    bool next();
    [[nodiscard]] const iovec* local() const { return local_; }
    [[nodiscard]] const iovec* remote() const { return remote_; }
    [[nodiscard]] size_t local_count() const { return local_count_; }
    [[nodiscard]] size_t remote_count() const { return remote_count_; }
    [[nodiscard]] uint64_t bytes() const { return bytes_; }

  private:
    static constexpr size_t max_segments = 128;
    const Operation& local_op_;
    const RemoteBuffer& remote_buffer_;
    uint64_t from_;
    uint64_t end_;
    uint64_t bytes_ = 0;
    size_t local_count_ = 0;
    size_t remote_count_ = 0;
    iovec local_[max_segments];
    iovec remote_[max_segments];
};

} // namespace zipmpi::proto
