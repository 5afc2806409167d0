// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "packing/simd_masked.hpp"

#include <cstring>

// Sanitizers cannot check masked accesses; they use the plain copies.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <immintrin.h>
#define ZIPMPI_MASKED 1
#else
#define ZIPMPI_MASKED 0
#endif

namespace zipmpi::packing {

#if ZIPMPI_MASKED

namespace {

constexpr int32_t register_bytes = 64;

// Bytes outside the mask are neither read nor written, and raise no page fault.
[[gnu::always_inline, gnu::target("avx512f,avx512bw,bmi2")]] inline void
copy_masked(std::byte* to, const std::byte* from, int32_t length) {
    if (length > register_bytes) {
        std::memcpy(to, from, static_cast<size_t>(length));
        return;
    }
    const __mmask64 mask = _bzhi_u64(~uint64_t{0}, static_cast<unsigned>(length));
    _mm512_mask_storeu_epi8(to, mask, _mm512_maskz_loadu_epi8(mask, from));
}

} // namespace

bool has_byte_masks() noexcept {
    static const bool has = __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("bmi2") != 0;
    return has;
}

[[gnu::target("avx512f,avx512bw,bmi2")]] void pack_masked(const LayoutNode::Run* run,
                                                          const LayoutNode::Run* end, const std::byte* memory,
                                                          std::byte* packed) {
    for (; run != end; packed += run->length, ++run)
        copy_masked(packed, memory + run->displacement, run->length);
}

[[gnu::target("avx512f,avx512bw,bmi2")]] void unpack_masked(const LayoutNode::Run* run,
                                                            const LayoutNode::Run* end, std::byte* memory,
                                                            const std::byte* packed) {
    for (; run != end; packed += run->length, ++run)
        copy_masked(memory + run->displacement, packed, run->length);
}

#else

bool has_byte_masks() noexcept { return false; }
void pack_masked(const LayoutNode::Run*, const LayoutNode::Run*, const std::byte*, std::byte*) {}
void unpack_masked(const LayoutNode::Run*, const LayoutNode::Run*, std::byte*, const std::byte*) {}

#endif

} // namespace zipmpi::packing
