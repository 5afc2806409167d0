// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/accumulate_op.hpp"

#include <algorithm>
#include <optional>

namespace zipmpi::proto::rma {
namespace {

enum ScratchIndex { packed_target, elements_in, elements_inout };

bool is_aligned(const void* at, uint32_t alignment) {
    return reinterpret_cast<uintptr_t>(at) % alignment == 0;
}

// Unpacks noncontiguous elements to their memory layout, applies the operation and packs the result.
void accumulate_noncontig(const AccumulateOp& c, const std::byte* in, std::byte* inout, int64_t count,
                          ScratchBuffers& scratch) {
    const auto extent_bytes = static_cast<uint64_t>(count * c.layout->extent);
    const auto bytes = static_cast<uint64_t>(count) * c.element_bytes;
    std::byte* const a = scratch.get(elements_in, extent_bytes);
    std::byte* const b = scratch.get(elements_inout, extent_bytes);
    packing::unpack(*c.layout, a, count, 0, in, bytes);
    packing::unpack(*c.layout, b, count, 0, inout, bytes);
    c.apply(a, b, count);
    packing::pack(*c.layout, b, count, 0, inout, bytes);
}

// Through a packed copy; works for any alignment and layout.
void accumulate_by_copy(const AccumulateOp& c, const iovec* iov, size_t count, const std::byte* in,
                        std::byte* fetched, ScratchBuffers& scratch) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; ++i) bytes += iov[i].iov_len;
    if (bytes == 0) return;
    std::byte* const there = scratch.get(packed_target, bytes);
    pack_iov(iov, count, there);
    if (fetched != nullptr) std::memcpy(fetched, there, bytes);
    accumulate_packed(c, in, there, bytes, scratch);
    unpack_iov(iov, count, there);
}

void apply_in_place(const AccumulateOp& c, std::byte* at, uint64_t bytes, const std::byte* in) {
    if (c.kind == AccumulateOp::Kind::replace)
        std::memcpy(at, in, bytes);
    else if (c.kind == AccumulateOp::Kind::combine)
        c.apply(in, at, static_cast<int64_t>(bytes / c.element_bytes));
}

// Fetched data is copied in chunks that are still in the L1 cache when they are modified.
void accumulate_in_place(const AccumulateOp& c, const iovec& segment, const std::byte* in,
                         std::byte* fetched) {
    auto* const at = static_cast<std::byte*>(segment.iov_base);
    if (fetched == nullptr) return apply_in_place(c, at, segment.iov_len, in);
    const uint64_t chunk = uint64_t{8192} / c.element_bytes * c.element_bytes;
    for (uint64_t done = 0; done < segment.iov_len; done += chunk) {
        const uint64_t bytes = std::min<uint64_t>(chunk, segment.iov_len - done);
        std::memcpy(fetched + done, at + done, bytes);
        if (c.writes()) apply_in_place(c, at + done, bytes, in + done);
    }
}

// Without concurrent access atomics are not needed.
bool uses_cpu_atomics(const AccumulateOp& c, const AccumulateGuard& guard) {
    return c.cpu_atomic && guard.cpu_atomic && guard.lock_word != nullptr;
}

template <class T>
void swap_atomic(std::byte* at, const void* compare, const void* value, void* fetched) {
    T expected{};
    T wanted{};
    std::memcpy(&expected, compare, sizeof(T));
    std::memcpy(&wanted, value, sizeof(T));
    std::atomic_ref<T>(*reinterpret_cast<T*>(at)).compare_exchange_strong(expected, wanted);
    std::memcpy(fetched, &expected, sizeof(T));
}

} // namespace

void accumulate_packed(const AccumulateOp& c, const std::byte* in, std::byte* inout, uint64_t bytes,
                       ScratchBuffers& scratch) {
    const auto count = static_cast<int64_t>(bytes / c.element_bytes);
    if (c.kind == AccumulateOp::Kind::replace)
        std::memcpy(inout, in, bytes);
    else if (c.kind == AccumulateOp::Kind::combine && c.layout != nullptr)
        accumulate_noncontig(c, in, inout, count, scratch);
    else if (c.kind == AccumulateOp::Kind::combine)
        c.apply(in, inout, count);
}

void accumulate_iov(const AccumulateOp& c, const iovec* iov, size_t count, const std::byte* in,
                    std::byte* fetched, const AccumulateGuard& guard, ScratchBuffers& scratch) {
    std::optional<SpinGuard> spin_guard; // acquired at the first segment that needs it
    for (size_t i = 0; i < count; ++i) {
        const iovec& segment = iov[i];
        if (segment.iov_len == 0) continue;
        const bool whole = c.layout == nullptr && is_aligned(segment.iov_base, c.alignment);
        if (whole && uses_cpu_atomics(c, guard)) {
            c.atomic_apply(in, segment.iov_base, fetched,
                           static_cast<int64_t>(segment.iov_len / c.element_bytes));
        } else {
            guard.enter(spin_guard);
            if (c.layout != nullptr) // an element spans several segments
                return accumulate_by_copy(c, iov + i, count - i, in, fetched, scratch);
            if (whole)
                accumulate_in_place(c, segment, in, fetched);
            else
                accumulate_by_copy(c, &segment, 1, in, fetched, scratch);
        }
        if (in != nullptr) in += segment.iov_len;
        if (fetched != nullptr) fetched += segment.iov_len;
    }
}

bool accumulate_contiguous(const AccumulateOp& c, const iovec& row, const std::byte* in, std::byte* fetched,
                           const AccumulateGuard& guard) {
    const auto count = static_cast<int64_t>(row.iov_len / c.element_bytes);
    if (c.layout != nullptr || !is_aligned(row.iov_base, c.alignment)) return false;
    if (uses_cpu_atomics(c, guard)) {
        c.atomic_apply(in, row.iov_base, fetched, count);
        return true;
    }
    std::optional<SpinGuard> spin_guard;
    guard.enter(spin_guard);
    accumulate_in_place(c, row, in, fetched);
    return true;
}

void swap_element(const CompareSwapOp& s, std::byte* at, const void* compare, const void* value,
                  void* fetched, const AccumulateGuard& guard) {
    if (s.cpu_atomic && guard.cpu_atomic && is_aligned(at, s.bytes)) {
        if (s.bytes == sizeof(uint64_t))
            swap_atomic<uint64_t>(at, compare, value, fetched);
        else
            swap_atomic<uint32_t>(at, compare, value, fetched);
        return;
    }
    std::optional<SpinGuard> spin_guard;
    guard.enter(spin_guard);
    std::byte there[16];
    std::memcpy(there, at, s.bytes);
    if (std::memcmp(there, compare, s.bytes) == 0) std::memcpy(at, value, s.bytes);
    std::memcpy(fetched, there, s.bytes);
}

} // namespace zipmpi::proto::rma
