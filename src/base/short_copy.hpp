// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// copy_short(): a copy of a few dozen bytes without a call, word by word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace zipmpi {

[[gnu::always_inline]] inline void copy_short(std::byte* to, const std::byte* from, size_t bytes) {
    constexpr size_t word = sizeof(uint64_t);
    if (bytes < word) {
        for (size_t i = 0; i < bytes; ++i) to[i] = from[i];
        return;
    }
    std::memcpy(to + bytes - word, from + bytes - word, word);
    for (size_t i = 0; i + word < bytes; i += word) std::memcpy(to + i, from + i, word);
}

} // namespace zipmpi
