// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The text consists of tokens: "grid1", then c NAME per cluster, n COUNT CLUSTER[+CLUSTER...] per run of
// equal nodes, and per gateway g HOST, followed by a CLUSTER DEVICES and l TO LISTEN CONNECT TRUST; "-" means
// empty.
#include "bridge/cluster_map.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace zipmpi::bridge {
namespace {

constexpr std::string_view version = "grid1";
constexpr size_t max_token = 255;
constexpr int most_nodes = 1 << 20;
constexpr int max_entries = 4096; // clusters, gateways

bool is_token(std::string_view text) {
    return !text.empty() && text != "-" && text.size() <= max_token &&
           std::ranges::all_of(text, [](char c) { return c > ' ' && c < 127; });
}

std::string token_or_dash(const std::string& text) { return text.empty() ? "-" : text; }

class Tokenizer {
  public:
    explicit Tokenizer(std::string_view text)
        : rest_(text) {}
    [[nodiscard]] bool at_end() const { return rest_.empty(); }
    std::string_view next() {
        const std::string_view token = rest_.substr(0, rest_.find(' '));
        rest_.remove_prefix(std::min(rest_.size(), token.size() + 1));
        return token;
    }
    bool next(std::string& token) { // may be empty
        const std::string_view text = next();
        if (text != "-") token = text;
        return text == "-" || is_token(text);
    }
    bool next(int& number) { return read(next(), number); }
    static bool read(std::string_view text, int& number) {
        const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
        return wrong == std::errc() && end == text.data() + text.size() && number >= 0;
    }

  private:
    std::string_view rest_;
};

bool parse_nodes(Tokenizer& tokens, ClusterMap& cluster_map) {
    int count = 0;
    if (!tokens.next(count) || count == 0 || count > most_nodes - static_cast<int>(cluster_map.nodes.size()))
        return false;
    NodeClusters node;
    std::string_view list = tokens.next();
    while (!list.empty() && node.clusters.size() < max_entries) {
        const std::string_view one = list.substr(0, list.find('+'));
        if (!Tokenizer::read(one, node.clusters.emplace_back())) return false;
        if (one.size() + 1 == list.size()) return false; // trailing plus
        list.remove_prefix(std::min(list.size(), one.size() + 1));
    }
    cluster_map.nodes.insert(cluster_map.nodes.end(), static_cast<size_t>(count), node);
    return list.empty();
}

bool parse_link(Tokenizer& tokens, GatewaySpec& of) {
    GatewayLink& link = of.links.emplace_back();
    if (!tokens.next(link.to_gateway) || !tokens.next(link.listen) || !tokens.next(link.connect))
        return false;
    const std::string_view trust = tokens.next();
    link.untrusted = trust == "untrusted";
    return link.untrusted || trust == "trusted";
}

bool parse_part(std::string_view what, Tokenizer& tokens, ClusterMap& cluster_map) {
    if (what == "c") return tokens.next(cluster_map.clusters.emplace_back().name);
    if (what == "n") return parse_nodes(tokens, cluster_map);
    if (what == "g") {
        const int number = static_cast<int>(cluster_map.gateways.size());
        GatewaySpec& g = cluster_map.gateways.emplace_back();
        g.number = number;
        return tokens.next(g.host);
    }
    if (cluster_map.gateways.empty()) return false;
    GatewaySpec& g = cluster_map.gateways.back();
    if (what == "a") {
        Attachment& a = g.attached.emplace_back();
        return tokens.next(a.cluster) && tokens.next(a.devices);
    }
    return what == "l" && parse_link(tokens, g);
}

bool cluster_exists(const ClusterMap& cluster_map, int cluster) {
    return cluster >= 0 && cluster < static_cast<int>(cluster_map.clusters.size());
}

const GatewayLink* reverse_link(const ClusterMap& cluster_map, int from, const GatewayLink& link) {
    if (link.to_gateway < 0 || link.to_gateway >= static_cast<int>(cluster_map.gateways.size()))
        return nullptr;
    for (const GatewayLink& other : cluster_map.gateways[static_cast<size_t>(link.to_gateway)].links)
        if (other.to_gateway == from) return &other;
    return nullptr;
}

std::string validate_links(const ClusterMap& cluster_map, const GatewaySpec& g) {
    for (const GatewayLink& link : g.links) {
        const GatewayLink* other = reverse_link(cluster_map, g.number, link);
        if (link.to_gateway == g.number || other == nullptr)
            return "a link of gateway " + g.host + " has no counterpart";
        if (link.listen.empty() == other->listen.empty())
            return "exactly one end of the link between " + g.host + " and " +
                   cluster_map.gateways[static_cast<size_t>(link.to_gateway)].host + " must listen";
        if (link.untrusted != other->untrusted)
            return "the two ends of a link of gateway " + g.host + " differ in trust";
        if (std::ranges::count(g.links, link.to_gateway, &GatewayLink::to_gateway) > 1)
            return "gateway " + g.host + " has more than one link to the same gateway";
    }
    return {};
}

std::string validate_gateway(const ClusterMap& cluster_map, const GatewaySpec& g) {
    if (!is_token(g.host)) return "a gateway has no host";
    for (const Attachment& a : g.attached) {
        if (!cluster_exists(cluster_map, a.cluster))
            return "gateway " + g.host + " is attached to a cluster that does not exist";
        if (std::ranges::count(g.attached, a.cluster, &Attachment::cluster) > 1)
            return "gateway " + g.host + " is attached to one cluster twice";
    }
    return validate_links(cluster_map, g);
}

} // namespace

std::string print(const ClusterMap& cluster_map) {
    std::string text(version);
    for (const Cluster& c : cluster_map.clusters) text += " c " + c.name;
    for (size_t i = 0; i < cluster_map.nodes.size();) {
        size_t end = i + 1;
        while (end < cluster_map.nodes.size() &&
               cluster_map.nodes[end].clusters == cluster_map.nodes[i].clusters)
            ++end;
        text += " n " + std::to_string(end - i) + ' ';
        for (size_t k = 0; k < cluster_map.nodes[i].clusters.size(); ++k)
            text += (k != 0 ? "+" : "") + std::to_string(cluster_map.nodes[i].clusters[k]);
        i = end;
    }
    for (const GatewaySpec& g : cluster_map.gateways) {
        text += " g " + g.host;
        for (const Attachment& a : g.attached)
            text += " a " + std::to_string(a.cluster) + ' ' + token_or_dash(a.devices);
        for (const GatewayLink& l : g.links)
            text += " l " + std::to_string(l.to_gateway) + ' ' + token_or_dash(l.listen) + ' ' +
                    token_or_dash(l.connect) + (l.untrusted ? " untrusted" : " trusted");
    }
    return text;
}

bool parse(std::string_view text, ClusterMap& cluster_map) {
    cluster_map = {};
    Tokenizer tokens(text);
    if (tokens.next() != version) return false;
    while (!tokens.at_end())
        if (!parse_part(tokens.next(), tokens, cluster_map)) return false;
    return validate(cluster_map).empty();
}

std::string validate(const ClusterMap& cluster_map) {
    if (cluster_map.clusters.empty() || cluster_map.clusters.size() > max_entries ||
        cluster_map.gateways.size() > max_entries)
        return "the number of clusters or gateways is out of range";
    for (const Cluster& c : cluster_map.clusters) {
        if (!is_token(c.name)) return "the name of a cluster is empty or contains blanks";
        if (std::ranges::count(cluster_map.clusters, c.name, &Cluster::name) > 1)
            return "more than one cluster is named " + c.name;
    }
    for (const NodeClusters& n : cluster_map.nodes) {
        if (n.clusters.empty()) return "a node belongs to no cluster";
        for (const int cluster : n.clusters)
            if (!cluster_exists(cluster_map, cluster))
                return "a node belongs to a cluster that does not exist";
    }
    for (const GatewaySpec& g : cluster_map.gateways) {
        if (g.number != &g - cluster_map.gateways.data()) return "gateways are not numbered in order";
        if (std::string error = validate_gateway(cluster_map, g); !error.empty()) return error;
    }
    return {};
}

int first_shared_cluster(const std::vector<int>& own, const std::vector<int>& others) {
    for (const int c : own)
        if (std::ranges::count(others, c) != 0) return c;
    return -1;
}

std::vector<int> clusters_of(const GatewaySpec& gateway) {
    std::vector<int> all;
    for (const Attachment& a : gateway.attached) all.push_back(a.cluster);
    return all;
}

bool share_cluster(const NodeClusters& a, const NodeClusters& b) {
    return first_shared_cluster(a.clusters, b.clusters) >= 0;
}

bool needs_gateways(const ClusterMap& cluster_map) {
    std::vector<const NodeClusters*> kinds; // one representative per set of clusters
    for (const NodeClusters& n : cluster_map.nodes)
        if (std::ranges::none_of(kinds, [&](const NodeClusters* k) { return k->clusters == n.clusters; }))
            kinds.push_back(&n);
    for (const NodeClusters* a : kinds)
        for (const NodeClusters* b : kinds)
            if (!share_cluster(*a, *b)) return true;
    return false;
}

} // namespace zipmpi::bridge
