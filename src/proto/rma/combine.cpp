// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/combine.hpp"

#include <algorithm>
#include <optional>

namespace zipmpi::proto::rma {
namespace {

enum Use { packed_target, elements_in, elements_inout };

bool aligned(const void* at, uint32_t alignment) { return reinterpret_cast<uintptr_t>(at) % alignment == 0; }

// Elements as they lie in the program's memory, made of packed ones.
void combine_with_gaps(const Combine& c, const std::byte* in, std::byte* inout, int64_t count,
                       Scratch& scratch) {
    const auto room = static_cast<uint64_t>(count * c.gaps->extent);
    const auto bytes = static_cast<uint64_t>(count) * c.element_bytes;
    std::byte* const a = scratch.get(elements_in, room);
    std::byte* const b = scratch.get(elements_inout, room);
    layout::unpack(*c.gaps, a, count, 0, in, bytes);
    layout::unpack(*c.gaps, b, count, 0, inout, bytes);
    c.apply(a, b, count);
    layout::pack(*c.gaps, b, count, 0, inout, bytes);
}

// By way of packed elements: whatever the memory looks like.
void combine_by_copy(const Combine& c, const iovec* pieces, size_t count, const std::byte* in,
                     std::byte* fetched, Scratch& scratch) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; ++i) bytes += pieces[i].iov_len;
    std::byte* const there = scratch.get(packed_target, bytes);
    gather(pieces, count, there);
    if (fetched != nullptr) std::memcpy(fetched, there, bytes);
    combine_packed(c, in, there, bytes, scratch);
    scatter(pieces, count, there);
}

void change_in_place(const Combine& c, std::byte* at, uint64_t bytes, const std::byte* in) {
    if (c.kind == Combine::Kind::replace)
        std::memcpy(at, in, bytes);
    else if (c.kind == Combine::Kind::combine)
        c.apply(in, at, static_cast<int64_t>(bytes / c.element_bytes));
}

// What is fetched goes out by parts that are still in the nearest cache when they are changed.
void combine_in_place(const Combine& c, const iovec& piece, const std::byte* in, std::byte* fetched) {
    auto* const at = static_cast<std::byte*>(piece.iov_base);
    if (fetched == nullptr) return change_in_place(c, at, piece.iov_len, in);
    const uint64_t part = uint64_t{8192} / c.element_bytes * c.element_bytes;
    for (uint64_t done = 0; done < piece.iov_len; done += part) {
        const uint64_t bytes = std::min<uint64_t>(part, piece.iov_len - done);
        std::memcpy(fetched + done, at + done, bytes);
        if (c.writes()) change_in_place(c, at + done, bytes, in + done);
    }
}

// By instructions of the CPU; who is alone has no need of them.
bool steps(const Combine& c, const Guard& guard) { return c.by_cpu && guard.by_cpu && guard.word != nullptr; }

template <class T>
void swap_by_cpu(std::byte* at, const void* compare, const void* value, void* fetched) {
    T expected{};
    T wanted{};
    std::memcpy(&expected, compare, sizeof(T));
    std::memcpy(&wanted, value, sizeof(T));
    std::atomic_ref<T>(*reinterpret_cast<T*>(at)).compare_exchange_strong(expected, wanted);
    std::memcpy(fetched, &expected, sizeof(T));
}

} // namespace

void combine_packed(const Combine& c, const std::byte* in, std::byte* inout, uint64_t bytes,
                    Scratch& scratch) {
    const auto count = static_cast<int64_t>(bytes / c.element_bytes);
    if (c.kind == Combine::Kind::replace)
        std::memcpy(inout, in, bytes);
    else if (c.kind == Combine::Kind::combine && c.gaps != nullptr)
        combine_with_gaps(c, in, inout, count, scratch);
    else if (c.kind == Combine::Kind::combine)
        c.apply(in, inout, count);
}

void combine_pieces(const Combine& c, const iovec* pieces, size_t count, const std::byte* in,
                    std::byte* fetched, const Guard& guard, Scratch& scratch) {
    std::optional<Busy> busy; // from the first piece on that needs it
    for (size_t i = 0; i < count; ++i) {
        const iovec& piece = pieces[i];
        const bool whole = c.gaps == nullptr && aligned(piece.iov_base, c.alignment);
        if (whole && steps(c, guard)) {
            c.step(in, piece.iov_base, fetched, static_cast<int64_t>(piece.iov_len / c.element_bytes));
        } else {
            if (guard.word != nullptr && !busy) busy.emplace(*guard.word);
            if (c.gaps != nullptr) // an element has several pieces
                return combine_by_copy(c, pieces + i, count - i, in, fetched, scratch);
            if (whole)
                combine_in_place(c, piece, in, fetched);
            else
                combine_by_copy(c, &piece, 1, in, fetched, scratch);
        }
        if (in != nullptr) in += piece.iov_len;
        if (fetched != nullptr) fetched += piece.iov_len;
    }
}

bool combine_row(const Combine& c, const iovec& row, const std::byte* in, std::byte* fetched,
                 const Guard& guard) {
    const auto count = static_cast<int64_t>(row.iov_len / c.element_bytes);
    if (c.gaps != nullptr || !aligned(row.iov_base, c.alignment)) return false;
    if (steps(c, guard)) {
        c.step(in, row.iov_base, fetched, count);
        return true;
    }
    std::optional<Busy> busy;
    if (guard.word != nullptr) busy.emplace(*guard.word);
    combine_in_place(c, row, in, fetched);
    return true;
}

void swap_element(const Swap& s, std::byte* at, const void* compare, const void* value, void* fetched,
                  const Guard& guard) {
    if (s.by_cpu && guard.by_cpu && aligned(at, s.bytes)) {
        if (s.bytes == sizeof(uint64_t))
            swap_by_cpu<uint64_t>(at, compare, value, fetched);
        else
            swap_by_cpu<uint32_t>(at, compare, value, fetched);
        return;
    }
    std::optional<Busy> busy;
    if (guard.word != nullptr) busy.emplace(*guard.word);
    std::byte there[16];
    std::memcpy(there, at, s.bytes);
    if (std::memcmp(there, compare, s.bytes) == 0) std::memcpy(at, value, s.bytes);
    std::memcpy(fetched, there, s.bytes);
}

} // namespace zipmpi::proto::rma
