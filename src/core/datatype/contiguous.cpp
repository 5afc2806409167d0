// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/datatype/contiguous.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::core {

MemoryExtent memory_extent_of(int64_t count, const Datatype& type) {
    if (count <= 0 || type.true_extent <= 0) return {};
    const int64_t last = (count - 1) * type.extent;
    return {type.true_lower + std::min<int64_t>(0, last), type.true_extent + std::abs(last)};
}

void pack_all(void* out, const void* buffer, int64_t count, const Datatype& type) {
    const uint64_t bytes = packed_bytes(count, type);
    if (bytes == 0) return;
    if (type.layout == nullptr)
        std::memcpy(out, buffer, bytes);
    else
        packing::pack(*type.layout, buffer, count, 0, out, bytes);
}

void unpack_first(void* buffer, int64_t count, const Datatype& type, const void* in, uint64_t bytes) {
    bytes = std::min(bytes, packed_bytes(count, type));
    if (bytes == 0) return;
    if (type.layout == nullptr)
        std::memcpy(buffer, in, bytes);
    else
        packing::unpack(*type.layout, buffer, count, 0, in, bytes);
}

Err copy_elements(void* to, int64_t to_count, const Datatype& to_type, const void* from, int64_t from_count,
                  const Datatype& from_type) {
    const uint64_t bytes = std::min(packed_bytes(to_count, to_type), packed_bytes(from_count, from_type));
    if (is_contiguous(to_count, to_type)) {
        void* const start = contiguous_start(to, to_type);
        if (from_type.layout != nullptr)
            packing::pack(*from_type.layout, from, from_count, 0, start, bytes);
        else if (bytes != 0 && start != from)
            std::memmove(start, from, bytes);
        return Err::success;
    }
    PackedInput in;
    const Err e = in.open(from, from_count, from_type);
    if (e == Err::success) unpack_first(to, to_count, to_type, in.data(), bytes);
    return e;
}

HeapBytes allocate_bytes(uint64_t n) { return HeapBytes(std::malloc(n != 0 ? n : 1)); }

Err buffer_alloc_error(uint64_t n) {
    return fail(Err::no_mem, "free memory, or use contiguous datatypes",
                "no memory to pack %llu bytes of noncontiguous data", static_cast<unsigned long long>(n));
}

Err PackedInput::open(const void* buffer, int64_t count, const Datatype& type) {
    bytes_ = packed_bytes(count, type);
    data_ = contiguous_start(buffer, type);
    if (is_contiguous(count, type)) return Err::success;
    copy_ = allocate_bytes(bytes_);
    if (copy_ == nullptr) return buffer_alloc_error(bytes_);
    pack_all(copy_.get(), buffer, count, type);
    data_ = copy_.get();
    return Err::success;
}

Err ContiguousOutput::open(void* buffer, int64_t count, const Datatype& type, bool load) {
    bytes_ = packed_bytes(count, type);
    data_ = contiguous_start(buffer, type);
    if (is_contiguous(count, type)) return Err::success;
    copy_ = allocate_bytes(bytes_);
    if (copy_ == nullptr) return buffer_alloc_error(bytes_);
    buffer_ = buffer;
    count_ = count;
    type_ = &type;
    data_ = copy_.get();
    if (load) pack_all(data_, buffer, count, type);
    return Err::success;
}

void ContiguousOutput::close(uint64_t bytes) {
    if (copy_ == nullptr) return;
    unpack_first(buffer_, count_, *type_, copy_.get(), bytes);
    copy_.reset();
}

} // namespace zipmpi::core
