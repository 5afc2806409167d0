// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/divide.hpp"
#include "mapping/raw_graph.hpp"
#include "mapping/refine.hpp"

#include <algorithm>
#include <numeric>

namespace zipmpi::mapping {
namespace {

constexpr uint32_t most_roots = 256; // from which a walk through the graph is tried
constexpr uint64_t looks_of_a_start = 2'000'000;

// Breadth first from a root; parts that it does not reach follow.
std::vector<uint32_t> walk_from(const Graph& graph, uint32_t root) {
    std::vector<uint32_t> order{root};
    std::vector<bool> seen(graph.size());
    seen[root] = true;
    uint32_t next_free = 0;
    for (size_t i = 0; order.size() < graph.size(); ++i) {
        if (i == order.size()) {
            while (seen[next_free]) ++next_free;
            seen[next_free] = true;
            order.push_back(next_free);
        }
        for (const Graph::Link& l : graph.links(order[i]))
            if (!seen[l.to]) {
                seen[l.to] = true;
                order.push_back(l.to);
            }
    }
    return order;
}

// The first of an order go left, the next into the middle, the rest right.
std::vector<uint32_t> cut_order(const std::vector<uint32_t>& order, uint32_t left_size,
                                uint32_t middle_size) {
    std::vector<uint32_t> side(order.size());
    for (uint32_t i = 0; i < order.size(); ++i)
        side[order[i]] = i < left_size ? left : i < left_size + middle_size ? middle : right;
    return side;
}

Targets three_sides(const Rooms& rooms) {
    Targets t;
    t.room = {rooms.left, rooms.right, rooms.middle};
    t.distance = {0, 1, 0, 1, 0, 0, 0, 0, 0};
    return t;
}

// Nobody stays where there is no room. The middle is asked first: to go there costs nothing.
void respect_rooms(const Graph& graph, const Rooms& rooms, std::vector<uint32_t>& side) {
    const uint32_t room[] = {rooms.left, rooms.right, rooms.middle};
    uint32_t used[3] = {};
    for (const uint32_t s : side) ++used[s];
    const auto to_side = [&](uint32_t v, uint32_t s) {
        double sum = 0;
        for (const Graph::Link& l : graph.links(v)) sum += side[l.to] == s ? l.weight : 0;
        return sum;
    };
    for (uint32_t from = 0; from < 3; ++from)
        while (used[from] > room[from]) {
            double best = 0;
            uint32_t who = UINT32_MAX;
            uint32_t where = 0;
            for (uint32_t v = 0; v < side.size(); ++v) {
                if (side[v] != from) continue;
                const double before = from == middle ? 0 : to_side(v, 1 - from);
                for (const uint32_t to : {uint32_t{middle}, uint32_t{left}, uint32_t{right}}) {
                    if (to == from || used[to] >= room[to]) continue;
                    const double change = (to == middle ? 0 : to_side(v, 1 - to)) - before;
                    if (who == UINT32_MAX || change < best) best = change, who = v, where = to;
                }
            }
            if (who == UINT32_MAX) return;
            side[who] = where;
            --used[from];
            ++used[where];
        }
}

// Finds a partner for each left vertex of the cut that can have one.
class Matching {
  public:
    Matching(const Graph& graph, const std::vector<uint32_t>& side)
        : graph_(graph)
        , side_(side)
        , partner_(graph.size(), nobody) {
        for (uint32_t v = 0; v < graph.size(); ++v) {
            seen_.assign(graph.size(), false);
            if (side[v] == left) augment(v);
        }
    }
    std::vector<uint32_t> cover() {
        seen_.assign(graph_.size(), false);
        for (uint32_t v = 0; v < graph_.size(); ++v)
            if (side_[v] == left && partner_[v] == nobody) reach(v);
        std::vector<uint32_t> result;
        for (uint32_t v = 0; v < graph_.size(); ++v)
            if ((side_[v] == left && partner_[v] != nobody && !seen_[v]) || (side_[v] == right && seen_[v]))
                result.push_back(v);
        return result;
    }

  private:
    static constexpr uint32_t nobody = UINT32_MAX;
    bool augment(uint32_t v) {
        for (const Graph::Link& l : graph_.links(v)) {
            if (side_[l.to] != right || seen_[l.to]) continue;
            seen_[l.to] = true;
            if (partner_[l.to] != nobody && !augment(partner_[l.to])) continue;
            partner_[l.to] = v;
            partner_[v] = l.to;
            return true;
        }
        return false;
    }
    // All that alternating paths from a left vertex without a partner lead to.
    void reach(uint32_t first) {
        std::vector<uint32_t> next{first};
        seen_[first] = true;
        for (size_t i = 0; i < next.size(); ++i)
            for (const Graph::Link& l : graph_.links(next[i])) {
                if (side_[l.to] != right || seen_[l.to]) continue;
                seen_[l.to] = true;
                const uint32_t back = partner_[l.to];
                if (back == nobody || seen_[back]) continue;
                seen_[back] = true;
                next.push_back(back);
            }
    }
    const Graph& graph_;
    const std::vector<uint32_t>& side_;
    std::vector<uint32_t> partner_;
    std::vector<bool> seen_;
};

// Of a cut, the vertices that cover most of it go into the middle, as many as there is room for.
void cover_cut(const Graph& graph, uint32_t room, std::vector<uint32_t>& side) {
    std::vector<uint32_t> cover = cover_of_cut(graph, side);
    while (room > 0 && !cover.empty()) {
        const auto covers = [&](uint32_t v) {
            double sum = 0;
            for (const Graph::Link& l : graph.links(v))
                if (side[l.to] != middle && side[l.to] != side[v]) sum += l.weight;
            return sum;
        };
        const auto best = std::max_element(cover.begin(), cover.end(),
                                           [&](uint32_t a, uint32_t b) { return covers(a) < covers(b); });
        side[*best] = middle;
        cover.erase(best);
        --room;
    }
}

// Keeps the best of what it is offered.
class Best {
  public:
    Best(const Graph& graph, const Rooms& rooms)
        : graph_(graph)
        , rooms_(rooms)
        , targets_(three_sides(rooms)) {}
    void offer(std::vector<uint32_t> side) {
        respect_rooms(graph_, rooms_, side);
        take(std::move(side));
    }
    void refine(uint64_t looks) {
        if (side_.empty() || weight_ == 0) return;
        std::vector<uint32_t> side = side_;
        search(graph_, targets_, side, looks, 1);
        take(std::move(side));
    }
    void offer_refined(std::vector<uint32_t> side) {
        respect_rooms(graph_, rooms_, side);
        descend(graph_, targets_, side, looks_of_a_start);
        take(std::move(side));
    }
    [[nodiscard]] const std::vector<uint32_t>& side() const { return side_; }
    [[nodiscard]] bool perfect() const { return !side_.empty() && weight_ == 0; }

  private:
    void take(std::vector<uint32_t> side) {
        const double weight = weight_across(graph_, side);
        if (!side_.empty() && weight >= weight_) return;
        side_ = std::move(side);
        weight_ = weight;
    }
    const Graph& graph_;
    const Rooms& rooms_;
    Targets targets_;
    std::vector<uint32_t> side_;
    double weight_ = 0;
};

// Walks from many roots: the vertices at one distance from a root are a separator.
void offer_walks(const Graph& graph, const Rooms& rooms, Best& best) {
    const uint32_t n = graph.size();
    const uint32_t middle_size = std::min(rooms.middle, n);
    const uint32_t rest = n - middle_size;
    const uint32_t lowest = rest > rooms.right ? rest - rooms.right : 0;
    const uint32_t highest = std::min(rooms.left, rest);
    const uint32_t step = std::max(1U, (highest - lowest) / 32);
    std::vector<uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0U);
    for (uint32_t at = lowest; at <= highest; at += step) best.offer(cut_order(order, at, middle_size));
    const uint32_t stride = std::max(1U, n / most_roots);
    for (uint32_t root = 0; root < n && !best.perfect(); root += stride) {
        order = walk_from(graph, root);
        for (uint32_t at = lowest; at <= highest && !best.perfect(); at += step)
            best.offer(cut_order(order, at, middle_size));
    }
}

} // namespace

double weight_across(const Graph& graph, const std::vector<uint32_t>& side) {
    double sum = 0;
    for (uint32_t v = 0; v < graph.size(); ++v)
        for (const Graph::Link& l : graph.links(v))
            if (side[v] == left && side[l.to] == right) sum += l.weight;
    return sum;
}

std::vector<uint32_t> cover_of_cut(const Graph& graph, const std::vector<uint32_t>& side) {
    return Matching(graph, side).cover();
}

std::vector<uint32_t> separate(const Graph& graph, const Rooms& rooms, const GraphTools* tools) {
    const uint32_t n = graph.size();
    Best best(graph, rooms);
    if (n == 0) return {};
    const uint64_t sides = std::max<uint64_t>(1, uint64_t{rooms.left} + rooms.right);
    for (const GraphTools* with : {tools, static_cast<const GraphTools*>(nullptr)}) {
        const auto left_size = static_cast<uint32_t>(uint64_t{n} * rooms.left / sides);
        std::vector<uint32_t> side = partition(graph, {left_size, n - left_size}, with);
        best.offer_refined(side); // the plain cut: what comes out is never worse
        cover_cut(graph, rooms.middle, side);
        best.offer_refined(std::move(side));
    }
    if (tools != nullptr && tools->separate != nullptr && graph.link_count() > 0) {
        const RawCopy raw(graph);
        std::vector<int32_t> found(n);
        if (tools->separate(raw.view(), found.data()))
            best.offer_refined(std::vector<uint32_t>(found.begin(), found.end()));
    }
    offer_walks(graph, rooms, best);
    best.refine(looks_of_a_start * 2);
    return best.side();
}

} // namespace zipmpi::mapping
