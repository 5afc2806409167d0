// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Bytes as hexadecimal text, which is valid as a value in every launcher protocol.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace zipmpi {

inline std::string hex_of(const void* bytes, size_t n) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    text.reserve(2 * n);
    for (size_t i = 0; i < n; ++i) {
        const unsigned char b = static_cast<const unsigned char*>(bytes)[i];
        text += digits[b >> 4];
        text += digits[b & 15];
    }
    return text;
}

// Returns false if the text does not consist of pairs of lower-case hexadecimal digits.
inline bool from_hex(std::string_view text, std::string& bytes) {
    const auto value = [](char c) {
        if (c >= '0' && c <= '9') return c - '0';
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    };
    bytes.clear();
    if (text.size() % 2 != 0) return false;
    for (size_t i = 0; i < text.size(); i += 2) {
        const int high = value(text[i]);
        const int low = value(text[i + 1]);
        if (high < 0 || low < 0) return false;
        bytes += static_cast<char>(high << 4 | low);
    }
    return true;
}

} // namespace zipmpi
