// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Minimal SVG writer for the figures of `zipmpi map`.
#pragma once

#include <string>
#include <string_view>

namespace zipmpi::tool {

class Svg {
  public:
    enum class Align { start, middle, end };
    Svg(int width, int height);
    void rect(int x, int y, int width, int height, std::string_view fill, std::string_view border = {},
              std::string_view hint = {}); // hint: tooltip
    void text(int x, int y, std::string_view text, std::string_view color, int size, Align align,
              bool bold = false);
    std::string take();

  private:
    std::string out_;
};

} // namespace zipmpi::tool
