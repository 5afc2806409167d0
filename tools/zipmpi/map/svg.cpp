// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "map/svg.hpp"

#include <fmt/format.h>

namespace zipmpi::tool {
namespace {

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '<')
            out += "&lt;";
        else if (c == '&')
            out += "&amp;";
        else if (c == '"')
            out += "&quot;";
        else
            out += c;
    }
    return out;
}

} // namespace

Svg::Svg(int width, int height)
    : out_(fmt::format(
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
          "font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\">\n",
          width, height)) {
    rect(0, 0, width, height, "#ffffff");
}

void Svg::rect(int x, int y, int width, int height, std::string_view fill, std::string_view border,
               std::string_view hint) {
    out_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"", x, y, width, height,
                        fill);
    if (!border.empty()) out_ += fmt::format(" rx=\"4\" stroke=\"{}\"", border);
    out_ += hint.empty() ? "/>\n" : fmt::format("><title>{}</title></rect>\n", escaped(hint));
}

void Svg::text(int x, int y, std::string_view text, std::string_view color, int size, Align align,
               bool bold) {
    constexpr const char* anchors[] = {"start", "middle", "end"};
    out_ += fmt::format(
        "<text x=\"{}\" y=\"{}\" fill=\"{}\" font-size=\"{}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, color,
        size, anchors[static_cast<int>(align)], bold ? " font-weight=\"bold\"" : "", escaped(text));
}

std::string Svg::take() { return std::move(out_) + "</svg>\n"; }

} // namespace zipmpi::tool
