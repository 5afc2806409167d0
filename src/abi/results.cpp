// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "abi/results.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::abi {

void put_text(const std::string& text, char* out, int size, int* length) noexcept {
    const size_t n = std::min(text.size(), static_cast<size_t>(size) - 1);
    std::memcpy(out, text.data(), n);
    out[n] = '\0';
    *length = static_cast<int>(n);
}

void put_bounded_text(const std::string& text, char* out, int* size) noexcept {
    int written = 0;
    if (*size > 0) put_text(text, out, *size, &written);
    *size = static_cast<int>(text.size()) + 1;
}

} // namespace zipmpi::abi
