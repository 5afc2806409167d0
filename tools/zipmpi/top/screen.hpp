// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A terminal as a page of lines: raw keys, no echo; the previous screen is restored at the end. Uses only
// escape codes that all terminals support.
#pragma once

#include <string>
#include <termios.h>
#include <vector>

namespace zipmpi::tool {

class Screen {
  public:
    Screen();
    ~Screen();
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    [[nodiscard]] size_t rows() const { return rows_; }
    [[nodiscard]] size_t columns() const { return columns_; }
    // Shows a page. Lines are cut at the edge; the line `bright` is shown inverse.
    void show(const std::vector<std::string>& lines, size_t bright);
    // Waits for a key; returns 0 if there was none or the size has changed. Arrows are 'U' and 'D', pages 'P'
    // and 'N', the end of input or a signal 'q'.
    char key(int limit_ms);

  private:
    void update_size();
    termios saved_termios_{};
    size_t rows_ = 24, columns_ = 80;
};

} // namespace zipmpi::tool
