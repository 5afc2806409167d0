// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Read-only view of "NAME=value" strings, so that code that reads the environment can be tested with an
// artificial one. A variable that is set but empty counts as not set.
#pragma once

#include <charconv>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace zipmpi::boot {

// Parses a nonnegative decimal number that fits an int, without surrounding characters.
inline std::optional<int> whole_number(std::string_view text) {
    int n = -1;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (ec != std::errc() || end != text.data() + text.size() || n < 0) return std::nullopt;
    return n;
}

class Environment {
  public:
    explicit Environment(const char* const* strings)
        : strings_(strings) {}

    [[nodiscard]] std::string_view get(std::string_view name) const {
        for (const char* const* s = strings_; s != nullptr && *s != nullptr; ++s) {
            const std::string_view line(*s);
            if (line.size() > name.size() && line[name.size()] == '=' && line.starts_with(name))
                return line.substr(name.size() + 1);
        }
        return {};
    }
    [[nodiscard]] bool has(std::string_view name) const { return !get(name).empty(); }
    [[nodiscard]] bool has_all(std::initializer_list<std::string_view> names) const {
        for (const auto name : names)
            if (!has(name)) return false;
        return true;
    }
    [[nodiscard]] std::optional<int> number(std::string_view name) const { return whole_number(get(name)); }
    [[nodiscard]] std::string describe(std::string_view name) const { // "NAME=value", for messages
        return std::string(name) + "=" + std::string(get(name));
    }

  private:
    const char* const* strings_;
};

} // namespace zipmpi::boot
