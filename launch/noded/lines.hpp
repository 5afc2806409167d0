// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Cuts what one rank writes to one stream into whole lines.
#pragma once

#include "launch/link/line_prefix.hpp"

#include <string>
#include <string_view>

namespace zipmpi::launch {

class LineCutter {
  public:
    static constexpr size_t longest_line = 1U << 20; // a longer line is passed on in pieces

    explicit LineCutter(LinePrefix prefix = {})
        : prefix_(std::move(prefix)) {}

    // Adds what was read; returns the whole lines that are complete now, with what stands in front of them,
    // or "".
    std::string feed(std::string_view bytes);
    // The unfinished line, as it is: at the end of the stream, or because somebody waits for it.
    std::string flush();
    [[nodiscard]] bool pending() const { return !partial_.empty(); }
    // Part of a line is out, its end is not.
    [[nodiscard]] bool mid_line() const { return mid_line_; }
    // The rest of the line that is out starts a new line, because another rank has written meanwhile.
    void line_was_broken() { mid_line_ = false; }

  private:
    void append(std::string& out, std::string_view line);
    LinePrefix prefix_;
    std::string partial_;
    bool mid_line_ = false;
};

} // namespace zipmpi::launch
