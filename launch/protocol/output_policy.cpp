// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/protocol/output_policy.hpp"

#include <ctime>

namespace zipmpi::launch {
namespace {

std::string escape_percent(std::string_view text) {
    std::string out;
    for (const char c : text) out.append(c == '%' ? 2 : 1, c);
    return out;
}

std::string zero_padded(uint32_t rank, uint32_t world_size) {
    const size_t width = std::to_string(world_size > 0 ? world_size - 1 : 0).size();
    const std::string digits = std::to_string(rank);
    return std::string(width > digits.size() ? width - digits.size() : 0, '0') + digits;
}

} // namespace

void set_output_directory(OutputPolicy& p, std::string_view directory) {
    p.out_file = escape_percent(directory) + "/rank.%R.out";
    p.err_file = escape_percent(directory) + "/rank.%R.err";
}

void set_output_files(OutputPolicy& p, std::string_view name) {
    p.out_file = escape_percent(name) + ".%R.out";
    p.err_file = escape_percent(name) + ".%R.err";
}

void set_openmpi_directory(OutputPolicy& p, std::string_view directory, JobLevel level) {
    const std::string ranks =
        escape_percent(directory) + (level == JobLevel::included ? "/1/rank.%R" : "/rank.%R");
    p.out_file = ranks + "/stdout";
    p.err_file = ranks + "/stderr";
}

bool expand(std::string_view pattern, const PatternValues& values, std::string& out) {
    out.clear();
    for (size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] != '%') {
            out += pattern[i];
            continue;
        }
        switch (++i < pattern.size() ? pattern[i] : '\0') {
        case 'r':
            out += std::to_string(values.rank);
            break;
        case 'R':
            out += zero_padded(values.rank, values.world_size);
            break;
        case 'g':
            out += '0';
            break;
        case 'p':
            out += std::to_string(values.node);
            break;
        case 'h':
            out += values.host;
            break;
        case 't':
            out += std::to_string(time(nullptr));
            break;
        case '%':
            out += '%';
            break;
        default:
            out = pattern.substr(i - 1, 2);
            return false;
        }
    }
    return true;
}

} // namespace zipmpi::launch
