// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/settings_file.hpp"

#include "base/text.hpp"

#include <cstdio>
#include <string_view>

namespace zipmpi {
bool read_settings(const char* path, std::vector<Setting>& out) {
    std::FILE* f = std::fopen(path, "re");
    if (f == nullptr) return false;
    char line[1024];
    for (int number = 1; std::fgets(line, sizeof line, f) != nullptr; ++number) {
        const std::string_view text = trimmed(line);
        if (text.empty() || text.front() == '#') continue;
        const size_t eq = text.find('=');
        if (eq == std::string_view::npos) {
            out.push_back({number, {}, std::string(text)});
            continue;
        }
        std::string_view value = trimmed(text.substr(eq + 1));
        if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
            value = value.substr(1, value.size() - 2);
        out.push_back({number, std::string(trimmed(text.substr(0, eq))), std::string(value)});
    }
    std::fclose(f);
    return true;
}

} // namespace zipmpi
