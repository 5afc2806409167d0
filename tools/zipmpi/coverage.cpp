// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "info.hpp"

#include "names/function_table.hpp"

#include <fmt/format.h>

namespace zipmpi::tool {

Json coverage_facts() {
    Json chapters = Json::array();
    for (const names::Chapter& c : names::chapters)
        chapters.push_back({{"chapter", fmt::format("{:>2} {}", c.number, c.title)},
                            {"functions", 0},
                            {"implemented", 0},
                            {"missing", Json::array()}});
    int implemented = 0;
    for (uint32_t id = 1; id <= names::function_count; ++id) {
        const names::Function& f = names::function(id);
        Json& chapter = chapters.at(f.chapter);
        chapter["functions"] = chapter["functions"].get<int>() + 1;
        if (f.implemented) {
            chapter["implemented"] = chapter["implemented"].get<int>() + 1;
            ++implemented;
        } else
            chapter["missing"].push_back(f.name);
    }
    return {{"functions", names::function_count}, {"implemented", implemented}, {"chapters", chapters}};
}

std::string coverage_text(const Json& coverage, bool list_missing) {
    std::string out = fmt::format("{:>11}{:>9}{:>6}  {}\n", "implemented", "missing", "all", "chapter");
    for (const Json& c : coverage.at("chapters")) {
        const int all = c.at("functions").get<int>();
        const int done = c.at("implemented").get<int>();
        out +=
            fmt::format("{:>11}{:>9}{:>6}  {}\n", done, all - done, all, c.at("chapter").get<std::string>());
        if (!list_missing) continue;
        for (const Json& name : c.at("missing")) out += "    " + name.get<std::string>() + "\n";
    }
    const int all = coverage.at("functions").get<int>();
    const int done = coverage.at("implemented").get<int>();
    return out + fmt::format("{:>11}{:>9}{:>6}  all chapters\n", done, all - done, all) +
           "\nA missing function exists and returns MPI_ERR_UNSUPPORTED_OPERATION through the error "
           "handler.\n";
}

} // namespace zipmpi::tool
