// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Splits the output of one stream of one rank into whole lines.
#pragma once

#include "launch/protocol/line_prefix.hpp"

#include <string>
#include <string_view>

namespace zipmpi::launch {

class LineSplitter {
  public:
    static constexpr size_t max_line_bytes = 1U << 20; // a longer line is passed on in fragments

    explicit LineSplitter(LinePrefix prefix = {})
        : prefix_(std::move(prefix)) {}

    // Adds bytes that were read; returns the lines that are now complete, with their prefixes, or "".
    std::string feed(std::string_view bytes);
    // The unfinished line without its end: at the end of the stream, or to show a prompt.
    std::string flush();
    [[nodiscard]] bool pending() const { return !partial_.empty(); }
    // Part of a line has been returned, its end has not.
    [[nodiscard]] bool mid_line() const { return mid_line_; }
    // The rest of that line starts on a new line because another rank has written in between.
    void begin_new_line() { mid_line_ = false; }

  private:
    void append(std::string& out, std::string_view line);
    LinePrefix prefix_;
    std::string partial_;
    bool mid_line_ = false;
};

} // namespace zipmpi::launch
