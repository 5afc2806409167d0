// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/host_copy.hpp"

#include <algorithm>
#include <limits>

namespace zipmpi::core::device {
namespace {

constexpr uintptr_t alignment = 64; // a copy has the alignment of its buffer, up to this

// A load copies the gaps, too, in one operation, if they have at most this many times the bytes of the data.
constexpr int64_t max_gap_factor = 4;

void* pointer_to(uintptr_t address) {
    return reinterpret_cast<void*>(address); // NOLINT(performance-no-int-to-ptr): may be below the object
}

bool has_data(const BufferPart& part) { return part.count > 0 && part.type->size > 0; }

} // namespace

MemoryExtent memory_extent_of(const BufferParts& parts) {
    int64_t low = std::numeric_limits<int64_t>::max();
    int64_t high = std::numeric_limits<int64_t>::min();
    for (const BufferPart& part : parts) {
        if (!has_data(part)) continue;
        const MemoryExtent extent = core::memory_extent_of(part.count, *part.type);
        low = std::min(low, part.offset + extent.low);
        high = std::max(high, part.offset + extent.low + extent.bytes);
    }
    return low < high ? MemoryExtent{low, high - low} : MemoryExtent{};
}

HostCopy::HostCopy(Driver& driver, const void* buffer, BufferParts parts)
    : driver_(&driver)
    , buffer_(reinterpret_cast<uintptr_t>(buffer))
    , parts_(std::move(parts))
    , stored_(parts_.size(), false) {}

void HostCopy::keep_types() {
    for (const BufferPart& part : parts_)
        if (types_.empty() || types_.back().get() != part.type) types_.push_back(share(*part.type));
}

Err HostCopy::allocate() {
    const MemoryExtent extent = device::memory_extent_of(parts_);
    const auto bytes = static_cast<uint64_t>(extent.bytes) + 2 * alignment;
    memory_ = allocate_bytes(bytes);
    if (memory_ == nullptr)
        return fail(Err::no_mem, "free memory, or use smaller buffers",
                    "no memory for a copy of a device buffer of %llu bytes",
                    static_cast<unsigned long long>(extent.bytes));
    const uintptr_t first = buffer_ + static_cast<uintptr_t>(extent.low);
    const auto memory = reinterpret_cast<uintptr_t>(memory_.get());
    const uintptr_t aligned = (memory + alignment - 1) / alignment * alignment;
    to_host_ = aligned + first % alignment - first;
    return Err::success;
}

void* HostCopy::address() const { return pointer_to(buffer_ + to_host_); }

Err HostCopy::copy_bytes(Direction direction, void* device_address, uint64_t bytes) {
    void* const host = pointer_to(reinterpret_cast<uintptr_t>(device_address) + to_host_);
    return direction == Direction::load ? driver_->copy(host, device_address, bytes)
                                        : driver_->copy(device_address, host, bytes);
}

Err HostCopy::copy_segments(Direction direction, const BufferPart& part) {
    constexpr size_t batch = 256;
    iovec segments[batch];
    const void* const elements = pointer_to(buffer_ + static_cast<uintptr_t>(part.offset));
    const uint64_t bytes = packed_bytes(part.count, *part.type);
    for (uint64_t done = 0; done < bytes;) {
        uint64_t covered = 0;
        const size_t n = packing::list_iov(*part.type->layout, elements, part.count, done, bytes - done,
                                           segments, batch, covered);
        for (size_t i = 0; i < n; ++i)
            if (const Err e = copy_bytes(direction, segments[i].iov_base, segments[i].iov_len);
                e != Err::success)
                return e;
        done += covered;
    }
    return Err::success;
}

Err HostCopy::copy(Direction direction, const BufferPart& part) {
    if (!has_data(part)) return Err::success;
    const uintptr_t elements = buffer_ + static_cast<uintptr_t>(part.offset);
    const uint64_t bytes = packed_bytes(part.count, *part.type);
    if (is_contiguous(part.count, *part.type))
        return copy_bytes(direction, contiguous_start(pointer_to(elements), *part.type), bytes);
    const MemoryExtent extent = core::memory_extent_of(part.count, *part.type);
    if (direction == Direction::load && extent.bytes / max_gap_factor <= static_cast<int64_t>(bytes))
        return copy_bytes(direction, pointer_to(elements + static_cast<uintptr_t>(extent.low)),
                          static_cast<uint64_t>(extent.bytes));
    return copy_segments(direction, part);
}

Err HostCopy::load_part(int index) {
    stored_[static_cast<size_t>(index)] = false;
    return copy(Direction::load, parts_[static_cast<size_t>(index)]);
}

Err HostCopy::store_part(int index) {
    if (stored_[static_cast<size_t>(index)]) return Err::success;
    stored_[static_cast<size_t>(index)] = true;
    return copy(Direction::store, parts_[static_cast<size_t>(index)]);
}

Err HostCopy::load() {
    for (size_t i = 0; i < parts_.size(); ++i)
        if (const Err e = load_part(static_cast<int>(i)); e != Err::success) return e;
    return Err::success;
}

Err HostCopy::store() {
    for (size_t i = 0; i < parts_.size(); ++i)
        if (const Err e = store_part(static_cast<int>(i)); e != Err::success) return e;
    return Err::success;
}

void HostCopies::add(HostCopy copy, Use use) {
    (use == Use::write ? written_ : read_).push_back(std::move(copy));
}

void HostCopies::keep_types() {
    for (std::vector<HostCopy>* const copies : {&read_, &written_})
        for (HostCopy& copy : *copies) copy.keep_types();
}

// Buffers to be written are loaded, too: a call may write only a part, or begin with their content.
Err HostCopies::load() {
    for (std::vector<HostCopy>* const copies : {&read_, &written_})
        for (HostCopy& copy : *copies)
            if (const Err e = copy.load(); e != Err::success) return e;
    return Err::success;
}

Err HostCopies::store() {
    for (HostCopy& copy : written_)
        if (const Err e = copy.store(); e != Err::success) return e;
    return Err::success;
}

} // namespace zipmpi::core::device
