// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/diagnostic.hpp"

#include <unistd.h>

namespace zipmpi {

std::string format(const Diagnostic& p, const char* program) {
    std::string s = std::string(program) + ": " + p.what + "\n";
    if (!p.where.empty()) s += "  where: " + p.where + "\n";
    if (!p.why.empty()) s += "  why:   " + p.why + "\n";
    if (!p.fix.empty()) s += "  fix:   " + p.fix + "\n";
    return s;
}

void report(const Diagnostic& p, const char* program) noexcept {
    const std::string s = format(p, program);
    size_t done = 0;
    while (done < s.size()) {
        const ssize_t n = ::write(STDERR_FILENO, s.data() + done, s.size() - done);
        if (n <= 0) return; // stderr is closed or broken
        done += static_cast<size_t>(n);
    }
}

} // namespace zipmpi
