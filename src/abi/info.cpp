// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Copies info objects to user memory.
#include "core/api/info.hpp"
#include "abi/custom.hpp"
#include "abi/results.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::abi::custom {
namespace {

// At most `capacity` characters and a final zero.
void put(const std::string& text, char* out, size_t capacity) {
    const size_t n = std::min(text.size(), capacity);
    std::memcpy(out, text.data(), n);
    out[n] = '\0';
}

} // namespace

Err info_get_nthkey(core::Info& info, int n, char* key) {
    std::string text;
    const Err e = core::info_get_nthkey(info, n, text);
    if (e == Err::success) put(text, key, MPI_MAX_INFO_KEY - 1);
    return e;
}

Err info_get_string(core::Info& info, const char* key, int& length, char* value, bool& found) {
    const std::string* text = nullptr;
    const Err e = core::info_find(info, key, text);
    found = text != nullptr;
    if (e != Err::success || !found) return e;
    if (length > 0 && value == nullptr)
        return fail(Err::arg, "pass memory for the value, or a buflen of 0", "value is a null pointer");
    if (length > 0) put(*text, value, static_cast<size_t>(length) - 1);
    length = static_cast<int>(text->size()) + 1;
    return e;
}

Err info_get(core::Info& info, const char* key, int length, char* value, bool& found) {
    if (length < 0) return fail(Err::arg, "pass 0 or more", "valuelen is %d", length);
    const std::string* text = nullptr;
    const Err e = core::info_find(info, key, text);
    found = text != nullptr;
    if (found) put(*text, value, static_cast<size_t>(length));
    return e;
}

Err info_get_valuelen(core::Info& info, const char* key, int& length, bool& found) {
    const std::string* text = nullptr;
    const Err e = core::info_find(info, key, text);
    found = text != nullptr;
    if (found) length = static_cast<int>(text->size());
    return e;
}

} // namespace zipmpi::abi::custom
