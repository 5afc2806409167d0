// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "packing/simd_shuffle.hpp"

// Sanitizers cannot check masked accesses; they use the plain copies.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <immintrin.h>
#define ZIPMPI_SHUFFLES 1
#else
#define ZIPMPI_SHUFFLES 0
#endif

namespace zipmpi::packing {

void add_run(ByteShuffle& s, int64_t displacement, int64_t bytes) {
    for (int64_t i = 0; i < bytes; ++i, ++s.size) {
        const int64_t at = displacement - s.low + i;
        s.to_packed[s.size] = static_cast<uint8_t>(at);
        s.to_memory[at] = static_cast<uint8_t>(s.size);
        s.memory_bytes |= uint64_t{1} << at;
        s.span = std::max(s.span, at + 1);
    }
}

#if ZIPMPI_SHUFFLES

namespace {

#define ZIPMPI_SHUFFLE_TARGET gnu::target("avx512f,avx512bw,avx512vbmi,bmi2")

// Permutation of `elements` elements in one register.
struct ShufflePlan {
    __m512i index;
    uint64_t load;
    uint64_t store;
    int64_t elements;
};

[[ZIPMPI_SHUFFLE_TARGET]] inline uint64_t lowest_bytes(int64_t n) {
    return _bzhi_u64(~uint64_t{0}, static_cast<unsigned>(n));
}

// The unmasked intrinsic causes warnings of GCC 12.
[[ZIPMPI_SHUFFLE_TARGET]] inline __m512i permuted(__m512i index, __m512i bytes) {
    return _mm512_maskz_permutexvar_epi8(~uint64_t{0}, index, bytes);
}

// Plan for twice as many elements, which are `to` and `from` bytes apart.
[[ZIPMPI_SHUFFLE_TARGET]] inline ShufflePlan doubled(const ShufflePlan& p, int64_t to, int64_t from) {
    alignas(register_bytes) static constexpr auto counted = [] {
        struct {
            uint8_t at[register_bytes];
        } numbers{};
        for (int i = 0; i < register_bytes; ++i) numbers.at[i] = static_cast<uint8_t>(i);
        return numbers;
    }();
    const int64_t shift = p.elements * to;
    const __m512i source =
        _mm512_sub_epi8(_mm512_load_si512(&counted), _mm512_set1_epi8(static_cast<char>(shift)));
    const __m512i next =
        _mm512_add_epi8(permuted(source, p.index), _mm512_set1_epi8(static_cast<char>(p.elements * from)));
    return {_mm512_mask_blend_epi8(~lowest_bytes(shift), p.index, next), p.load | p.load << p.elements * from,
            p.store | p.store << shift, 2 * p.elements};
}

[[ZIPMPI_SHUFFLE_TARGET]] inline void copy_registers(const ShufflePlan& p, std::byte*& to,
                                                     const std::byte*& from, Strides& row) {
    const __m512i index = p.index;
    const __mmask64 load = p.load;
    const __mmask64 store = p.store;
    const int64_t to_step = p.elements * row.to;
    const int64_t from_step = p.elements * row.from;
#pragma GCC unroll 2
    for (; row.count >= p.elements; row.count -= p.elements, to += to_step, from += from_step)
        _mm512_mask_storeu_epi8(to, store, permuted(index, _mm512_maskz_loadu_epi8(load, from)));
}

// Bytes outside the masks are neither read nor written, and raise no page fault.
[[ZIPMPI_SHUFFLE_TARGET]] void shuffle(const ShufflePlan& one, std::byte* to, const std::byte* from,
                                       Strides row, int64_t to_span, int64_t from_span) {
    ShufflePlan several = one;
    const bool disjoint = row.to >= to_span && row.from >= from_span;
    while (disjoint && 2 * several.elements <= row.count &&
           (2 * several.elements - 1) * row.to + to_span <= register_bytes &&
           (2 * several.elements - 1) * row.from + from_span <= register_bytes)
        several = doubled(several, row.to, row.from);
    copy_registers(several, to, from, row);
    if (row.count != 0) copy_registers(one, to, from, row);
}

} // namespace

bool has_shuffles() noexcept {
    static const bool has = __builtin_cpu_supports("avx512vbmi") != 0 &&
                            __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("bmi2") != 0;
    return has;
}

[[ZIPMPI_SHUFFLE_TARGET]] void pack_shuffled(const ByteShuffle& s, std::byte* packed, const std::byte* memory,
                                             Strides row) {
    const ShufflePlan one{_mm512_loadu_si512(s.to_packed), s.memory_bytes, lowest_bytes(s.size), 1};
    shuffle(one, packed, memory + s.low, row, s.size, s.span);
}

[[ZIPMPI_SHUFFLE_TARGET]] void unpack_shuffled(const ByteShuffle& s, std::byte* memory,
                                               const std::byte* packed, Strides row) {
    const ShufflePlan one{_mm512_loadu_si512(s.to_memory), lowest_bytes(s.size), s.memory_bytes, 1};
    shuffle(one, memory + s.low, packed, row, s.span, s.size);
}

#else

bool has_shuffles() noexcept { return false; }
void pack_shuffled(const ByteShuffle&, std::byte*, const std::byte*, Strides) {}
void unpack_shuffled(const ByteShuffle&, std::byte*, const std::byte*, Strides) {}

#endif

} // namespace zipmpi::packing
