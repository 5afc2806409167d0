// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "info.hpp"

#include <fmt/format.h>

namespace zipmpi::tool {

Json coverage_facts() { return nullptr; }

std::string coverage_text(const Json& coverage, bool list_missing) {
    if (coverage.is_null()) return "This build holds no function table.\n";
    std::string out = fmt::format("{:<40}{:>11}{:>9}{:>7}\n", "chapter", "implemented", "missing", "all");
    for (const Json& c : coverage.at("chapters")) {
        const int all = c.at("functions").get<int>();
        const int done = c.at("implemented").get<int>();
        out += fmt::format("{:<40}{:>11}{:>9}{:>7}\n", c.at("chapter").get<std::string>(), done, all - done,
                           all);
        if (!list_missing) continue;
        for (const Json& name : c.at("missing")) out += "    " + name.get<std::string>() + "\n";
    }
    const int all = coverage.at("functions").get<int>();
    const int done = coverage.at("implemented").get<int>();
    return out + fmt::format("{:<40}{:>11}{:>9}{:>7}\n", "all chapters", done, all - done, all) +
           "\nA function that is missing exists and returns MPI_ERR_UNSUPPORTED_OPERATION through the error "
           "handler.\n";
}

} // namespace zipmpi::tool
