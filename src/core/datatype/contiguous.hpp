// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Elements of any datatype as contiguous bytes, for callers that work on bytes (collectives, buffered sends):
//
//   PackedInput in;                                    ContiguousOutput out;
//   if (in.open(buf, count, type) != success) ...      if (out.open(buf, count, type) != success) ...
//   use(in.data(), in.bytes());                        fill(out.data(), out.bytes()); out.close(out.bytes());
//
// data() is the program's own memory where that is contiguous, and then nothing is copied.
#pragma once

#include "base/err.hpp"
#include "core/datatype/datatype.hpp"

#include <cstdlib>
#include <memory>

namespace zipmpi::core {

// Bytes of data of so many elements: what a message of them carries.
inline uint64_t packed_bytes(int64_t count, const Datatype& type) {
    return type.size > 0 ? static_cast<uint64_t>(count) * static_cast<uint64_t>(type.size) : 0;
}

inline bool is_contiguous(int64_t count, const Datatype& type) {
    return type.program == nullptr || type.program->contiguous(count);
}

// Where the data of contiguous elements begin.
inline void* contiguous_start(const void* buffer, const Datatype& type) {
    return type.program == nullptr ? const_cast<void*>(buffer) : type.program->start(buffer);
}

// The memory that elements touch, relative to their address: for buffers that hold elements as the program
// has them (user operations work on such). Zero bytes if there are no data.
struct Span {
    int64_t low = 0;
    int64_t bytes = 0;
};
Span span_of(int64_t count, const Datatype& type);

// All data of the elements, without and with gaps.
void pack_all(void* out, const void* buffer, int64_t count, const Datatype& type);
// The first `bytes` bytes of their data.
void unpack_first(void* buffer, int64_t count, const Datatype& type, const void* in, uint64_t bytes);
// What a send and a receive between the two would do. The shorter of the two decides.
Err copy_elements(void* to, int64_t to_count, const Datatype& to_type, const void* from, int64_t from_count,
                  const Datatype& from_type);

struct FreeBytes {
    void operator()(void* memory) const { std::free(memory); }
};
using Bytes = std::unique_ptr<void, FreeBytes>;
// Null if memory is exhausted; never null for 0 bytes.
Bytes make_bytes(uint64_t n);
[[gnu::cold]] Err no_bytes(uint64_t n);

class PackedInput {
  public:
    Err open(const void* buffer, int64_t count, const Datatype& type);
    [[nodiscard]] const void* data() const { return data_; }
    [[nodiscard]] uint64_t bytes() const { return bytes_; }

  private:
    const void* data_ = nullptr;
    uint64_t bytes_ = 0;
    Bytes copy_;
};

class ContiguousOutput {
  public:
    // With `load` data() holds what is in the buffer now, as an operation in place needs it.
    Err open(void* buffer, int64_t count, const Datatype& type, bool load = false);
    [[nodiscard]] void* data() const { return data_; }
    [[nodiscard]] uint64_t bytes() const { return bytes_; }
    // The first `bytes` bytes are there: they go to the program's memory if they are not there already.
    void close(uint64_t bytes);

  private:
    void* data_ = nullptr;
    uint64_t bytes_ = 0;
    void* buffer_ = nullptr;
    int64_t count_ = 0;
    const Datatype* type_ = nullptr;
    Bytes copy_;
};

} // namespace zipmpi::core
