// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The text is a row of words: "grid1", then c NAME per cluster, n COUNT CLUSTER[+CLUSTER...] per run of equal
// nodes, and per gateway g HOST, followed by a CLUSTER DEVICES and l TO LISTEN CONNECT TRUST; "-" is nothing.
#include "bridge/grid.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace zipmpi::bridge {
namespace {

constexpr std::string_view version = "grid1";
constexpr size_t longest_word = 255;
constexpr int most_nodes = 1 << 20;
constexpr int most_things = 4096; // clusters, gateways

bool is_word(std::string_view text) {
    return !text.empty() && text != "-" && text.size() <= longest_word &&
           std::ranges::all_of(text, [](char c) { return c > ' ' && c < 127; });
}

std::string word_or_nothing(const std::string& text) { return text.empty() ? "-" : text; }

class Words {
  public:
    explicit Words(std::string_view text)
        : rest_(text) {}
    [[nodiscard]] bool at_end() const { return rest_.empty(); }
    std::string_view next() {
        const std::string_view word = rest_.substr(0, rest_.find(' '));
        rest_.remove_prefix(std::min(rest_.size(), word.size() + 1));
        return word;
    }
    bool next(std::string& word) { // perhaps nothing
        const std::string_view text = next();
        if (text != "-") word = text;
        return text == "-" || is_word(text);
    }
    bool next(int& number) { return read(next(), number); }
    static bool read(std::string_view text, int& number) {
        const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
        return wrong == std::errc() && end == text.data() + text.size() && number >= 0;
    }

  private:
    std::string_view rest_;
};

bool parse_nodes(Words& words, Grid& grid) {
    int count = 0;
    if (!words.next(count) || count == 0 || count > most_nodes - static_cast<int>(grid.nodes.size()))
        return false;
    NodePlace place;
    std::string_view list = words.next();
    while (!list.empty() && place.clusters.size() < most_things) {
        const std::string_view one = list.substr(0, list.find('+'));
        if (!Words::read(one, place.clusters.emplace_back())) return false;
        if (one.size() + 1 == list.size()) return false; // ends with a plus
        list.remove_prefix(std::min(list.size(), one.size() + 1));
    }
    grid.nodes.insert(grid.nodes.end(), static_cast<size_t>(count), place);
    return list.empty();
}

bool parse_link(Words& words, GatewayPlace& of) {
    Link& link = of.links.emplace_back();
    if (!words.next(link.to_gateway) || !words.next(link.listen) || !words.next(link.connect)) return false;
    const std::string_view trust = words.next();
    link.untrusted = trust == "untrusted";
    return link.untrusted || trust == "trusted";
}

bool parse_part(std::string_view what, Words& words, Grid& grid) {
    if (what == "c") return words.next(grid.clusters.emplace_back().name);
    if (what == "n") return parse_nodes(words, grid);
    if (what == "g") {
        const int number = static_cast<int>(grid.gateways.size());
        GatewayPlace& g = grid.gateways.emplace_back();
        g.number = number;
        return words.next(g.host);
    }
    if (grid.gateways.empty()) return false;
    GatewayPlace& g = grid.gateways.back();
    if (what == "a") {
        Attachment& a = g.attached.emplace_back();
        return words.next(a.cluster) && words.next(a.devices);
    }
    return what == "l" && parse_link(words, g);
}

bool known(const Grid& grid, int cluster) {
    return cluster >= 0 && cluster < static_cast<int>(grid.clusters.size());
}

const Link* other_end(const Grid& grid, int from, const Link& link) {
    if (link.to_gateway < 0 || link.to_gateway >= static_cast<int>(grid.gateways.size())) return nullptr;
    for (const Link& other : grid.gateways[static_cast<size_t>(link.to_gateway)].links)
        if (other.to_gateway == from) return &other;
    return nullptr;
}

std::string flaw_of_links(const Grid& grid, const GatewayPlace& g) {
    for (const Link& link : g.links) {
        const Link* other = other_end(grid, g.number, link);
        if (link.to_gateway == g.number || other == nullptr)
            return "a link of gateway " + g.host + " has no other end";
        if (link.listen.empty() == other->listen.empty())
            return "of a link between " + g.host + " and " +
                   grid.gateways[static_cast<size_t>(link.to_gateway)].host + " one end must listen";
        if (link.untrusted != other->untrusted)
            return "the ends of a link of " + g.host + " disagree on trust";
        if (std::ranges::count(g.links, link.to_gateway, &Link::to_gateway) > 1)
            return "two links between the same gateways, one of them " + g.host;
    }
    return {};
}

std::string flaw_of_gateway(const Grid& grid, const GatewayPlace& g) {
    if (!is_word(g.host)) return "a gateway without a host";
    for (const Attachment& a : g.attached) {
        if (!known(grid, a.cluster)) return "gateway " + g.host + " is in a cluster that does not exist";
        if (std::ranges::count(g.attached, a.cluster, &Attachment::cluster) > 1)
            return "gateway " + g.host + " is in one cluster twice";
    }
    return flaw_of_links(grid, g);
}

} // namespace

std::string print(const Grid& grid) {
    std::string text(version);
    for (const Cluster& c : grid.clusters) text += " c " + c.name;
    for (size_t i = 0; i < grid.nodes.size();) {
        size_t end = i + 1;
        while (end < grid.nodes.size() && grid.nodes[end].clusters == grid.nodes[i].clusters) ++end;
        text += " n " + std::to_string(end - i) + ' ';
        for (size_t k = 0; k < grid.nodes[i].clusters.size(); ++k)
            text += (k != 0 ? "+" : "") + std::to_string(grid.nodes[i].clusters[k]);
        i = end;
    }
    for (const GatewayPlace& g : grid.gateways) {
        text += " g " + g.host;
        for (const Attachment& a : g.attached)
            text += " a " + std::to_string(a.cluster) + ' ' + word_or_nothing(a.devices);
        for (const Link& l : g.links)
            text += " l " + std::to_string(l.to_gateway) + ' ' + word_or_nothing(l.listen) + ' ' +
                    word_or_nothing(l.connect) + (l.untrusted ? " untrusted" : " trusted");
    }
    return text;
}

bool parse(std::string_view text, Grid& grid) {
    grid = {};
    Words words(text);
    if (words.next() != version) return false;
    while (!words.at_end())
        if (!parse_part(words.next(), words, grid)) return false;
    return flaw_of(grid).empty();
}

std::string flaw_of(const Grid& grid) {
    if (grid.clusters.empty() || grid.clusters.size() > most_things || grid.gateways.size() > most_things)
        return "no cluster, or too many";
    for (const Cluster& c : grid.clusters) {
        if (!is_word(c.name)) return "the name of a cluster is empty or has blanks";
        if (std::ranges::count(grid.clusters, c.name, &Cluster::name) > 1)
            return "two clusters are named " + c.name;
    }
    for (const NodePlace& n : grid.nodes) {
        if (n.clusters.empty()) return "a node is in no cluster";
        for (const int cluster : n.clusters)
            if (!known(grid, cluster)) return "a node is in a cluster that does not exist";
    }
    for (const GatewayPlace& g : grid.gateways) {
        if (g.number != &g - grid.gateways.data()) return "gateways are not numbered in order";
        if (std::string flaw = flaw_of_gateway(grid, g); !flaw.empty()) return flaw;
    }
    return {};
}

int first_shared(const std::vector<int>& own, const std::vector<int>& theirs) {
    for (const int c : own)
        if (std::ranges::count(theirs, c) != 0) return c;
    return -1;
}

std::vector<int> clusters_of(const GatewayPlace& gateway) {
    std::vector<int> all;
    for (const Attachment& a : gateway.attached) all.push_back(a.cluster);
    return all;
}

bool share_cluster(const NodePlace& a, const NodePlace& b) {
    return first_shared(a.clusters, b.clusters) >= 0;
}

bool needs_gateways(const Grid& grid) {
    std::vector<const NodePlace*> kinds; // nodes in the same clusters need be looked at once
    for (const NodePlace& n : grid.nodes)
        if (std::ranges::none_of(kinds, [&](const NodePlace* k) { return k->clusters == n.clusters; }))
            kinds.push_back(&n);
    for (const NodePlace* a : kinds)
        for (const NodePlace* b : kinds)
            if (!share_cluster(*a, *b)) return true;
    return false;
}

} // namespace zipmpi::bridge
