// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "map/heat_map.hpp"

#include "map/svg.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>

namespace zipmpi::tool {
namespace {

// Sums of bytes over cells of ranks_per_cell x ranks_per_cell ranks.
class HeatCells {
  public:
    HeatCells(const mapping::Matrix& m, uint32_t most)
        : ranks(m.ranks)
        , ranks_per_cell((m.ranks + most - 1) / most)
        , count((m.ranks + ranks_per_cell - 1) / ranks_per_cell)
        , bytes(size_t{count} * count)
        , messages(bytes.size()) {
        for (const mapping::Traffic& t : m.pairs) {
            const size_t i = size_t{t.from / ranks_per_cell} * count + t.to / ranks_per_cell;
            bytes[i] += static_cast<double>(t.bytes + t.coll_bytes);
            messages[i] += static_cast<double>(t.messages + t.coll_messages);
        }
        for (size_t i = 0; i < bytes.size(); ++i) {
            if (messages[i] == 0 && bytes[i] == 0) continue;
            lowest = std::min(lowest, bytes[i]);
            highest = std::max(highest, bytes[i]);
        }
    }
    [[nodiscard]] bool has_traffic(size_t i) const { return messages[i] > 0 || bytes[i] > 0; }
    // Logarithmic scale from 0, the smallest nonzero sum, to 1, the largest.
    [[nodiscard]] double heat(size_t i) const {
        if (highest <= lowest) return 1;
        return std::log((bytes[i] + 1) / (lowest + 1)) / std::log((highest + 1) / (lowest + 1));
    }
    uint32_t ranks, ranks_per_cell, count;
    std::vector<double> bytes, messages;
    double lowest = 1e300, highest = 0;
};

std::string size_text(double bytes) {
    constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t u = 0;
    for (; bytes >= 1024 && u + 1 < std::size(units); ++u) bytes /= 1024;
    return fmt::format("{:.4g} {}", bytes, units[u]);
}

std::string color(double heat) { // from light to dark blue over green, distinct in print as well
    constexpr double from[] = {222, 240, 212}, middle[] = {65, 171, 168}, to[] = {8, 48, 107};
    int c[3];
    for (int i = 0; i < 3; ++i)
        c[i] = static_cast<int>(heat < 0.5 ? from[i] + (middle[i] - from[i]) * heat * 2
                                           : middle[i] + (to[i] - middle[i]) * (heat - 0.5) * 2);
    return fmt::format("#{:02x}{:02x}{:02x}", c[0], c[1], c[2]);
}

std::string range_text(const HeatCells& cells, uint32_t cell) {
    const uint32_t first = cell * cells.ranks_per_cell;
    const uint32_t last = std::min(first + cells.ranks_per_cell, cells.ranks) - 1;
    return first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
}

void draw_cells(const HeatCells& cells, int left, int top, int side, Svg& svg) {
    for (uint32_t r = 0; r < cells.count; ++r)
        for (uint32_t c = 0; c < cells.count; ++c) {
            const size_t i = size_t{r} * cells.count + c;
            const int x = left + static_cast<int>(c) * side;
            const int y = top + static_cast<int>(r) * side;
            if (cells.has_traffic(i))
                svg.rect(x, y, side - (side > 5 ? 1 : 0), side - (side > 5 ? 1 : 0), color(cells.heat(i)), {},
                         fmt::format("{} to {}: {:.0f} messages, {}", range_text(cells, r),
                                     range_text(cells, c), cells.messages[i], size_text(cells.bytes[i])));
        }
    const uint32_t step = std::bit_ceil(static_cast<uint32_t>(std::ceil(26.0 / side)));
    for (uint32_t i = 0; i < cells.count; i += step) {
        const int at = static_cast<int>(i) * side + side / 2;
        svg.text(left - 6, top + at + 4, std::to_string(i * cells.ranks_per_cell), "#303a46", 11,
                 Svg::Align::end);
        svg.text(left + at, top - 6, std::to_string(i * cells.ranks_per_cell), "#303a46", 11,
                 Svg::Align::middle);
    }
}

void draw_legend(const HeatCells& cells, int x, int y, Svg& svg) {
    if (cells.highest < cells.lowest) {
        svg.text(x, y + 12, "no messages", "#303a46", 12, Svg::Align::start);
        return;
    }
    constexpr int steps = 40;
    for (int i = 0; i < steps; ++i) svg.rect(x + i * 5, y, 5, 12, color(i / (steps - 1.0)));
    svg.text(x, y + 27, size_text(cells.lowest), "#303a46", 11, Svg::Align::start);
    svg.text(x + steps * 5, y + 27, size_text(cells.highest), "#303a46", 11, Svg::Align::end);
}

void draw_costs(const std::vector<NamedCost>& costs, int x, int y, Svg& svg) {
    double most = 1;
    for (const NamedCost& c : costs) most = std::max(most, c.cost);
    svg.text(x, y, "cost of the placement, relative to the best found", "#1d2630", 13, Svg::Align::start,
             true);
    for (size_t i = 0; i < costs.size(); ++i) {
        const int at = y + 14 + static_cast<int>(i) * 24;
        const bool best = i + 1 == costs.size();
        svg.text(x, at + 13, costs[i].name, "#303a46", 12, Svg::Align::start);
        svg.rect(x + 150, at, std::max(2, static_cast<int>(240 * costs[i].cost / most)), 16,
                 best ? "#41aba8" : "#9fb6d3");
        const double ratio = costs.back().cost > 0 ? costs[i].cost / costs.back().cost : 1;
        svg.text(x + 400, at + 13, fmt::format("{:.2f} x", ratio), "#303a46", 12, Svg::Align::start);
    }
}

} // namespace

std::string heat_map_text(const mapping::Matrix& matrix, size_t columns) {
    constexpr size_t label = 10;
    constexpr size_t most_cells = 64;
    const size_t columns_for_cells = columns > label ? (columns - label) / 2 : 1;
    const HeatCells cells(matrix,
                          static_cast<uint32_t>(std::clamp<size_t>(columns_for_cells, 8, most_cells)));
    constexpr const char* shades[] = {"░░", "▒▒", "▓▓", "██"};
    std::string text =
        fmt::format("{} ranks; rows send, columns receive{}\n", cells.ranks,
                    cells.ranks_per_cell > 1 ? fmt::format(", {} ranks per cell", cells.ranks_per_cell) : "");
    for (uint32_t r = 0; r < cells.count; ++r) {
        text += fmt::format("{:>9} ", range_text(cells, r));
        for (uint32_t c = 0; c < cells.count; ++c) {
            const size_t i = size_t{r} * cells.count + c;
            text += cells.has_traffic(i) ? shades[std::min(3, static_cast<int>(cells.heat(i) * 4))] : " ·";
        }
        text += "\n";
    }
    if (cells.highest >= cells.lowest)
        text += fmt::format("░░ {} to ██ {}\n", size_text(cells.lowest), size_text(cells.highest));
    return text;
}

std::string costs_text(const std::vector<NamedCost>& costs) {
    std::string text = "cost of the placement, relative to the best found\n";
    for (const NamedCost& c : costs)
        text += fmt::format("  {:<24} {:>14.0f} {:>8.2f} x\n", c.name, c.cost,
                            costs.back().cost > 0 ? c.cost / costs.back().cost : 1.0);
    return text;
}

std::string heat_map_svg(const mapping::Matrix& matrix, const std::vector<NamedCost>& costs,
                         const std::string& title) {
    const HeatCells cells(matrix, 128);
    const int side = std::clamp(static_cast<int>(560 / cells.count), 4, 28);
    const int left = 60;
    const int top = 92;
    const int extent = side * static_cast<int>(cells.count);
    const int width = std::max({left + extent + 24, 520, 40 + static_cast<int>(title.size()) * 9});
    const int below = top + extent + 24;
    Svg svg(width, below + 70 + 24 * static_cast<int>(costs.size()) + 20);
    svg.text(16, 26, title, "#1d2630", 16, Svg::Align::start, true);
    svg.text(16, 48, "rows send, columns receive; color shows bytes", "#5a6572", 12, Svg::Align::start);
    svg.rect(left, top, extent, extent, "#f4f5f7");
    draw_cells(cells, left, top, side, svg);
    draw_legend(cells, left, below, svg);
    draw_costs(costs, 16, below + 62, svg);
    return svg.take();
}

} // namespace zipmpi::tool
