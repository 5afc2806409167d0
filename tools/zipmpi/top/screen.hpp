// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A terminal as a page of lines: raw keys, no echo, the screen of before restored at the end. Escape codes
// that every terminal of the last thirty years knows.
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
    // The page as it shall look. Lines are cut at the edge; the line `bright` is shown inverse.
    void show(const std::vector<std::string>& lines, size_t bright);
    // Waits for a key; 0: there was none, or the size has changed. Arrows are 'U' and 'D', pages 'P' and 'N',
    // the end of input or a signal 'q'.
    char key(int limit_ms);

  private:
    void measure();
    termios before_{};
    size_t rows_ = 24, columns_ = 80;
};

} // namespace zipmpi::tool
