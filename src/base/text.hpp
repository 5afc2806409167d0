// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Parts of texts.
#pragma once

#include <cctype>
#include <string_view>

namespace zipmpi {

// Without white space at both ends.
inline std::string_view trimmed(std::string_view s) {
    while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front())) != 0) s.remove_prefix(1);
    while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back())) != 0) s.remove_suffix(1);
    return s;
}

// The part of a path behind the last slash.
inline std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

} // namespace zipmpi
