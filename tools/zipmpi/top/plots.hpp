// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Values over time as characters: in eighths of a line where the terminal knows Unicode, else in quarters.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::tool {

bool terminal_has_unicode(); // by LC_ALL, LC_CTYPE, LANG

// The newest values in one line, as parts of the largest that is shown.
std::string plot_line(const std::deque<double>& values, size_t columns, bool unicode);
// The same over several lines, with the largest value and zero in front.
std::vector<std::string> plot_lines(const std::deque<double>& values, size_t columns, size_t rows,
                                    bool unicode);

// The first characters of a text in UTF-8.
std::string_view first_columns(std::string_view text, size_t columns);

} // namespace zipmpi::tool
