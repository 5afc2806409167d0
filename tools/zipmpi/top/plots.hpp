// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Values over time as characters: in eighths of a line in Unicode terminals, otherwise in quarters.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::tool {

bool terminal_has_unicode(); // by LC_ALL, LC_CTYPE, LANG

// The newest values on one line, relative to the largest value shown.
std::string plot_line(const std::deque<double>& values, size_t columns, bool unicode);
// The newest values on several lines, labeled with the largest value and zero.
std::vector<std::string> plot_lines(const std::deque<double>& values, size_t columns, size_t rows,
                                    bool unicode);

// The first characters of a UTF-8 text.
std::string_view first_columns(std::string_view text, size_t columns);

} // namespace zipmpi::tool
