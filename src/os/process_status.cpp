// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "os/process_status.hpp"

#include <cstdio>
#include <string>
#include <string_view>

namespace zipmpi::os {

ProcessStatus process_status(pid_t pid) {
    ProcessStatus status;
    std::FILE* f = std::fopen(("/proc/" + std::to_string(pid) + "/stat").c_str(), "re");
    if (f == nullptr) return status;
    char line[512] = {};
    const size_t n = std::fread(line, 1, sizeof line - 1, f);
    std::fclose(f);
    const size_t name_end = std::string_view(line, n).rfind(')'); // the name may contain any character
    if (name_end == std::string_view::npos ||
        std::sscanf(line + name_end + 1, " %c %d", &status.state, &status.parent) != 2)
        return {};
    return status;
}

bool descends_from(pid_t pid, pid_t ancestor) {
    while (pid > 1 && pid != ancestor) pid = process_status(pid).parent;
    return pid == ancestor;
}

} // namespace zipmpi::os
