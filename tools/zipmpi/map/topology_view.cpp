// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "map/topology_view.hpp"

#include "map/svg.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace zipmpi::tool {
namespace {

using launch::CpuList;

struct LevelBox {
    hwtopo::Level level;
    Box::Kind kind;
    const char* name;
    const char* fill;
};

constexpr LevelBox levels[] = {{hwtopo::Level::package, Box::Kind::socket, "socket", "#dfe9f5"},
                               {hwtopo::Level::numa, Box::Kind::memory, "memory", "#e9e4f4"},
                               {hwtopo::Level::l3, Box::Kind::l3, "L3", "#e3f1e4"},
                               {hwtopo::Level::l2, Box::Kind::l2, "L2", "#fdf3d8"}};

constexpr int gap = 8, head = 20, core_width = 96, line = 15, widest = 1500;
constexpr size_t characters_of_core = 11; // bold, in the width of a core
constexpr double width_of_character = 7;  // of normal text
constexpr uint32_t max_listed_ranks = 4;  // adjacent ranks; more are shown as a range

std::string joined(const CpuList& cpus) {
    std::string text;
    for (const int c : cpus) text += (text.empty() ? "" : ",") + std::to_string(c);
    return text;
}

struct Core {
    hwtopo::Locality locality;
    Box box;
};

// Groups cores into boxes of this level, and these into boxes of the levels above.
std::vector<Box> grouped(std::vector<Core> cores, size_t level) {
    std::vector<Box> result;
    if (level == std::size(levels)) {
        for (Core& c : cores) result.push_back(std::move(c.box));
        return result;
    }
    std::map<uint16_t, std::vector<Core>> groups;
    for (Core& c : cores) groups[hwtopo::index_at(c.locality, levels[level].level)].push_back(std::move(c));
    const bool empty_level =
        (groups.size() == 1 && level > 0) || groups.contains(hwtopo::spans_several) ||
        std::all_of(groups.begin(), groups.end(), [](const auto& g) { return g.second.size() == 1; });
    for (auto& [index, members] : groups) {
        std::vector<Box> inside = grouped(std::move(members), level + 1);
        if (empty_level) {
            result.insert(result.end(), std::make_move_iterator(inside.begin()),
                          std::make_move_iterator(inside.end()));
            continue;
        }
        Box box;
        box.kind = levels[level].kind;
        box.name = fmt::format("{} {}", levels[level].name, index);
        box.children = std::move(inside);
        result.push_back(std::move(box));
    }
    return result;
}

// "0 1 2 3", "0-15 32-47"
std::vector<std::string> rank_labels(const std::vector<uint32_t>& ranks) {
    std::vector<std::string> labels;
    for (size_t i = 0; i < ranks.size();) {
        size_t end = i + 1;
        while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
        if (end - i > max_listed_ranks) {
            labels.push_back(fmt::format("{}-{}", ranks[i], ranks[end - 1]));
            i = end;
        }
        for (; i < end; ++i) labels.push_back(std::to_string(ranks[i]));
    }
    return labels;
}

std::string ranks_text(const std::vector<uint32_t>& ranks) {
    return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(rank_labels(ranks), " "));
}

std::vector<std::string> lines_of_core(const std::vector<uint32_t>& ranks) {
    std::vector<std::string> lines;
    for (const std::string& label : rank_labels(ranks))
        if (lines.empty() || lines.back().size() + 1 + label.size() > characters_of_core)
            lines.push_back(label);
        else
            lines.back() += " " + label;
    return lines;
}

std::string any_core_text(const Box& box) { return "any core: " + ranks_text(box.ranks); }

void add_text(const Box& box, int depth, std::string& text) {
    const std::string before(static_cast<size_t>(depth) * 2, ' ');
    if (box.kind == Box::Kind::core) {
        text +=
            fmt::format("{}{:<18} {}\n", before, box.name, box.ranks.empty() ? "-" : ranks_text(box.ranks));
        return;
    }
    text += before + box.name + "\n";
    for (const Box& b : box.children) add_text(b, depth + 1, text);
    if (!box.ranks.empty()) text += before + "  " + any_core_text(box) + "\n";
}

size_t max_lines(const Box& box) {
    size_t most = box.kind == Box::Kind::core ? lines_of_core(box.ranks).size() : 0;
    for (const Box& b : box.children) most = std::max(most, max_lines(b));
    return most;
}

// Arranges boxes next to each other in full rows where possible.
size_t columns_for(size_t n, bool outer) {
    if (n <= 4) return std::max<size_t>(n, 1);
    const auto wanted = static_cast<size_t>(std::ceil(std::sqrt(static_cast<double>(n)) * (outer ? 1 : 1.4)));
    for (const size_t columns : {wanted, wanted + 1, wanted - 1})
        if (n % columns == 0) return columns;
    return wanted;
}

// Sizes, and positions relative to the enclosing box.
void lay_out(Box& box, int core_height) {
    if (box.kind == Box::Kind::core) {
        box.width = core_width;
        box.height = core_height;
        return;
    }
    for (Box& b : box.children) lay_out(b, core_height);
    const auto n = box.children.size();
    const bool outer = box.kind == Box::Kind::node || box.kind == Box::Kind::socket;
    int all = 0;
    for (const Box& b : box.children) all += b.width + gap;
    const bool below_each_other = box.kind == Box::Kind::node && all > widest;
    const size_t columns = below_each_other ? 1 : columns_for(n, outer);
    int y = head;
    for (size_t i = 0; i < n;) {
        int x = gap;
        int tallest = 0;
        for (size_t c = 0; c < columns && i < n; ++c, ++i) {
            box.children[i].x = x;
            box.children[i].y = y;
            x += box.children[i].width + gap;
            tallest = std::max(tallest, box.children[i].height);
        }
        box.width = std::max(box.width, x);
        y += tallest + gap;
    }
    if (!box.ranks.empty()) {
        y += line + gap / 2;
        box.width =
            std::max(box.width, 2 * gap + static_cast<int>(static_cast<double>(any_core_text(box).size()) *
                                                           width_of_character));
    }
    box.width = std::max(box.width, 16 + static_cast<int>(box.name.size()) * 8);
    box.height = y;
}

void draw(const Box& box, int x, int y, Svg& svg) {
    x += box.x;
    y += box.y;
    if (box.kind == Box::Kind::core) {
        const bool used = !box.ranks.empty();
        svg.rect(x, y, box.width, box.height, used ? "#2f6db5" : "#ffffff", used ? "#1d4f8a" : "#b8bec6");
        svg.text(x + box.width / 2, y + 14, box.name, used ? "#cfe0f5" : "#8a929c", 10, Svg::Align::middle);
        int at = y + 31;
        for (const std::string& text : lines_of_core(box.ranks)) {
            svg.text(x + box.width / 2, at, text, "#ffffff", 13, Svg::Align::middle, true);
            at += line;
        }
        return;
    }
    const char* fill = "#f4f5f7";
    for (const LevelBox& l : levels)
        if (l.kind == box.kind) fill = l.fill;
    svg.rect(x, y, box.width, box.height, fill, "#9aa4b0");
    svg.text(x + gap, y + 14, box.name, "#303a46", 12, Svg::Align::start, box.kind == Box::Kind::node);
    for (const Box& b : box.children) draw(b, x, y, svg);
    if (!box.ranks.empty())
        svg.text(x + gap, y + box.height - gap, any_core_text(box), "#303a46", 12, Svg::Align::start);
}

} // namespace

Box box_of(const NodeView& node, const hwtopo::Machine& machine, const std::vector<CpuList>& cores) {
    std::vector<Core> all;
    for (const CpuList& cpus : cores) {
        Core core;
        core.locality = hwtopo::locality_of(machine, cpus);
        core.box.kind = Box::Kind::core;
        core.box.name = "cpu " + joined(cpus);
        for (size_t i = 0; i < node.placed.size(); ++i)
            if (std::find(node.placed[i].begin(), node.placed[i].end(), cpus[0]) != node.placed[i].end())
                core.box.ranks.push_back(node.ranks[i]);
        all.push_back(std::move(core));
    }
    Box box;
    box.name = node.name;
    box.children = grouped(std::move(all), 0);
    for (size_t i = 0; i < node.placed.size(); ++i)
        if (node.placed[i].empty()) box.ranks.push_back(node.ranks[i]);
    return box;
}

std::string text_of(const std::vector<Box>& nodes) {
    std::string text;
    for (const Box& n : nodes) add_text(n, 0, text);
    return text;
}

std::string svg_of(std::vector<Box> nodes, const std::string& title) {
    size_t most = 1;
    for (const Box& n : nodes) most = std::max(most, max_lines(n));
    const int core_height = 24 + line * static_cast<int>(most);
    const auto columns = static_cast<size_t>(std::ceil(std::sqrt(static_cast<double>(nodes.size()))));
    int x = gap;
    int y = 40;
    int tallest = 0;
    int width = 40 + static_cast<int>(title.size()) * 9;
    for (size_t i = 0; i < nodes.size(); ++i) {
        lay_out(nodes[i], core_height);
        if (i > 0 && i % columns == 0) {
            x = gap;
            y += tallest + 2 * gap;
            tallest = 0;
        }
        nodes[i].x = x;
        nodes[i].y = y;
        x += nodes[i].width + 2 * gap;
        tallest = std::max(tallest, nodes[i].height);
        width = std::max(width, x);
    }
    Svg svg(width, y + tallest + gap);
    svg.text(gap, 25, title, "#1d2630", 16, Svg::Align::start, true);
    for (const Box& n : nodes) draw(n, 0, 0, svg);
    return svg.take();
}

} // namespace zipmpi::tool
