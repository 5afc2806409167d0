// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "map/size_table.hpp"

#include "base/size_histogram.hpp"

#include <cinttypes>
#include <cstdio>
#include <fmt/format.h>
#include <sstream>

namespace zipmpi::tool {
namespace {

std::string range_of(uint64_t smallest) {
    if (smallest < 2) return std::to_string(smallest);
    const uint32_t which = size_histogram::class_of(smallest);
    if (which + 1 == size_histogram::classes) return fmt::format("{} and more", smallest);
    return fmt::format("{} to {}", smallest, size_histogram::largest(which));
}

} // namespace

std::vector<SizeClass> message_sizes(std::string_view matrix_file) {
    std::vector<SizeClass> found;
    std::istringstream lines{std::string(matrix_file)};
    for (std::string line; std::getline(lines, line);) {
        SizeClass c;
        if (std::sscanf(line.c_str(), "# size %" SCNu64 " %" SCNu64, &c.smallest, &c.messages) == 2)
            found.push_back(c);
    }
    return found;
}

std::string size_table(const std::vector<SizeClass>& sizes) {
    uint64_t total = 0;
    for (const SizeClass& c : sizes) total += c.messages;
    if (total == 0) return "";
    std::string text = fmt::format("{:>24} {:>14}\n", "bytes of a message", "messages");
    for (const SizeClass& c : sizes)
        text += fmt::format("{:>24} {:>14} {:>5.1f} %\n", range_of(c.smallest), c.messages,
                            100.0 * static_cast<double>(c.messages) / static_cast<double>(total));
    return text;
}

} // namespace zipmpi::tool
