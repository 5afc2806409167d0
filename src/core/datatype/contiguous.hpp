// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Elements of any datatype as contiguous bytes, for callers that work on bytes (collectives, buffered sends):
//
//   PackedInput in;                                    ContiguousOutput out;
//   if (in.open(buf, count, type) != success) ...      if (out.open(buf, count, type) != success) ...
//   use(in.data(), in.bytes());                        fill(out.data(), out.bytes()); out.close(out.bytes());
//
// data() is the user buffer itself if that is contiguous; nothing is copied then.
#pragma once

#include "base/err.hpp"
#include "core/datatype/datatype.hpp"

#include <cstdlib>
#include <memory>

namespace zipmpi::core {

// Bytes of data in `count` elements: the payload of a message.
inline uint64_t packed_bytes(int64_t count, const Datatype& type) {
    return type.size > 0 ? static_cast<uint64_t>(count) * static_cast<uint64_t>(type.size) : 0;
}

inline bool is_contiguous(int64_t count, const Datatype& type) {
    return type.layout == nullptr || type.layout->contiguous(count);
}

// Address of the first data byte of contiguous elements.
inline void* contiguous_start(const void* buffer, const Datatype& type) {
    return type.layout == nullptr ? const_cast<void*>(buffer) : type.layout->start(buffer);
}

// The memory range that elements span, relative to their address, for buffers with the user's layout (user
// operations need them). Zero bytes if there is no data.
struct MemoryExtent {
    int64_t low = 0;
    int64_t bytes = 0;
};
MemoryExtent memory_extent_of(int64_t count, const Datatype& type);

// Packs all data of the elements.
void pack_all(void* out, const void* buffer, int64_t count, const Datatype& type);
// Unpacks the first `bytes` bytes of their data.
void unpack_first(void* buffer, int64_t count, const Datatype& type, const void* in, uint64_t bytes);
// Copies as a send and a matching receive would. The shorter buffer determines the size.
Err copy_elements(void* to, int64_t to_count, const Datatype& to_type, const void* from, int64_t from_count,
                  const Datatype& from_type);

struct HeapDeleter {
    void operator()(void* memory) const { std::free(memory); }
};
using HeapBytes = std::unique_ptr<void, HeapDeleter>;
// Null if memory is exhausted; never null for 0 bytes.
HeapBytes allocate_bytes(uint64_t n);
[[gnu::cold]] Err buffer_alloc_error(uint64_t n);

class PackedInput {
  public:
    Err open(const void* buffer, int64_t count, const Datatype& type);
    [[nodiscard]] const void* data() const { return data_; }
    [[nodiscard]] uint64_t bytes() const { return bytes_; }

  private:
    const void* data_ = nullptr;
    uint64_t bytes_ = 0;
    HeapBytes copy_;
};

class ContiguousOutput {
  public:
    // With `load`, data() holds the current content of the buffer, as an in-place operation needs it.
    Err open(void* buffer, int64_t count, const Datatype& type, bool load = false);
    [[nodiscard]] void* data() const { return data_; }
    [[nodiscard]] uint64_t bytes() const { return bytes_; }
    // Stores the first `bytes` bytes in the user buffer, unless data() is the user buffer.
    void close(uint64_t bytes);

  private:
    void* data_ = nullptr;
    uint64_t bytes_ = 0;
    void* buffer_ = nullptr;
    int64_t count_ = 0;
    const Datatype* type_ = nullptr;
    HeapBytes copy_;
};

} // namespace zipmpi::core
