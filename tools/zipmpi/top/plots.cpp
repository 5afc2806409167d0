// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "top/plots.hpp"

#include "top/rank_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <iterator>
#include <strings.h>

namespace zipmpi::tool {
namespace {

constexpr std::string_view eighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::string_view quarters[] = {" ", ".", "-", "=", "#"};
constexpr size_t label_columns = 8;

double largest(const std::deque<double>& values, size_t count) {
    return count == 0 ? 0 : *std::max_element(values.end() - static_cast<long>(count), values.end());
}

// Fill level of a value in line `row`, counted from below, if the largest value fills `rows` lines.
std::string_view glyph_for(double fraction, size_t row, size_t rows, bool unicode) {
    const size_t steps = (unicode ? std::size(eighths) : std::size(quarters)) - 1;
    const double filled =
        std::ceil(fraction * static_cast<double>(rows * steps)) - static_cast<double>(row * steps);
    const auto step = static_cast<size_t>(std::clamp(filled, 0.0, static_cast<double>(steps)));
    return unicode ? eighths[step] : quarters[step];
}

std::string line(const std::deque<double>& values, size_t count, size_t row, size_t rows, bool unicode) {
    const double most = largest(values, count);
    std::string out;
    for (size_t i = values.size() - count; i < values.size(); ++i)
        out += glyph_for(most > 0 ? values[i] / most : 0, row, rows, unicode);
    return out;
}

} // namespace

bool terminal_has_unicode() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
        if (const char* value = std::getenv(name); value != nullptr && *value != '\0') {
            const std::string_view text = value;
            const size_t dot = text.find('.');
            const std::string charset(dot == std::string_view::npos ? "" : text.substr(dot + 1));
            return strncasecmp(charset.c_str(), "utf-8", 5) == 0 ||
                   strncasecmp(charset.c_str(), "utf8", 4) == 0;
        }
    return false;
}

std::string plot_line(const std::deque<double>& values, size_t columns, bool unicode) {
    return line(values, std::min(values.size(), columns), 0, 1, unicode);
}

std::vector<std::string> plot_lines(const std::deque<double>& values, size_t columns, size_t rows,
                                    bool unicode) {
    std::vector<std::string> out;
    if (columns <= label_columns || rows == 0) return out;
    const size_t count = std::min(values.size(), columns - label_columns);
    for (size_t row = rows; row-- > 0;) {
        const std::string label = row == rows - 1 ? rate_text(largest(values, count)) : row == 0 ? "0" : "";
        out.push_back(fmt::format("{:>{}} |", label, label_columns - 2) +
                      line(values, count, row, rows, unicode));
    }
    return out;
}

std::string_view first_columns(std::string_view text, size_t columns) {
    for (size_t i = 0; i < text.size(); ++i) {
        const bool begins = (static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U;
        if (begins && columns-- == 0) return text.substr(0, i);
    }
    return text;
}

} // namespace zipmpi::tool
