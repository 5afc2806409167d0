// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "map/size_table.hpp"

#include "base/size_histogram.hpp"

#include <cstdint>
#include <cstdio>
#include <fmt/format.h>
#include <sstream>
#include <vector>

namespace zipmpi::tool {
namespace {

struct SizeClass {
    unsigned long long smallest = 0;
    unsigned long long messages = 0;
};

std::string range_of(unsigned long long smallest) {
    if (smallest < 2) return std::to_string(smallest);
    const uint32_t which = size_histogram::class_of(smallest);
    if (which + 1 == size_histogram::classes) return fmt::format("{} and more", smallest);
    return fmt::format("{} to {}", smallest, size_histogram::largest(which));
}

} // namespace

std::string size_table(std::string_view matrix_file) {
    std::vector<SizeClass> found;
    unsigned long long total = 0;
    std::istringstream lines{std::string(matrix_file)};
    for (std::string line; std::getline(lines, line);) {
        SizeClass c;
        if (std::sscanf(line.c_str(), "# size %llu %llu", &c.smallest, &c.messages) != 2) continue;
        found.push_back(c);
        total += c.messages;
    }
    if (total == 0) return "";
    std::string text = fmt::format("{:>24} {:>14}\n", "bytes of a message", "messages");
    for (const SizeClass& c : found)
        text += fmt::format("{:>24} {:>14} {:>5.1f} %\n", range_of(c.smallest), c.messages,
                            100.0 * static_cast<double>(c.messages) / static_cast<double>(total));
    return text;
}

} // namespace zipmpi::tool
