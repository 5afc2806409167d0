// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/csr_graph.hpp"
#include "mapping/partition.hpp"
#include "mapping/refine.hpp"

#include <algorithm>
#include <numeric>

namespace zipmpi::mapping {
namespace {

constexpr uint32_t most_roots = 256; // roots of breadth-first orders that are tried
constexpr uint64_t start_budget = 2'000'000;

// Breadth-first order from a root; other components follow.
std::vector<uint32_t> breadth_first_order(const Graph& graph, uint32_t root) {
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
        for (const Graph::Neighbor& l : graph.neighbors(order[i]))
            if (!seen[l.to]) {
                seen[l.to] = true;
                order.push_back(l.to);
            }
    }
    return order;
}

// Splits an order: the first vertices go left, the next into the middle, the rest right.
std::vector<uint32_t> split_order(const std::vector<uint32_t>& order, uint32_t left_size,
                                  uint32_t middle_size) {
    std::vector<uint32_t> side(order.size());
    for (uint32_t i = 0; i < order.size(); ++i)
        side[order[i]] = i < left_size ? left : i < left_size + middle_size ? middle : right;
    return side;
}

Targets three_sides(const SideCapacity& capacity) {
    Targets t;
    t.capacity = {capacity.left, capacity.right, capacity.middle};
    t.distance = {0, 1, 0, 1, 0, 0, 0, 0, 0};
    return t;
}

// Moves vertices out of sides above capacity, first to the middle, which adds no cut weight.
void enforce_capacity(const Graph& graph, const SideCapacity& capacity, std::vector<uint32_t>& side) {
    const uint32_t limit[] = {capacity.left, capacity.right, capacity.middle};
    uint32_t used[3] = {};
    for (const uint32_t s : side) ++used[s];
    const auto to_side = [&](uint32_t v, uint32_t s) {
        double sum = 0;
        for (const Graph::Neighbor& l : graph.neighbors(v)) sum += side[l.to] == s ? l.weight : 0;
        return sum;
    };
    for (uint32_t from = 0; from < 3; ++from)
        while (used[from] > limit[from]) {
            double best = 0;
            uint32_t who = UINT32_MAX;
            uint32_t where = 0;
            for (uint32_t v = 0; v < side.size(); ++v) {
                if (side[v] != from) continue;
                const double before = from == middle ? 0 : to_side(v, 1 - from);
                for (const uint32_t to : {uint32_t{middle}, uint32_t{left}, uint32_t{right}}) {
                    if (to == from || used[to] >= limit[to]) continue;
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

// Maximum matching of the cut edges.
class Matching {
  public:
    Matching(const Graph& graph, const std::vector<uint32_t>& side)
        : graph_(graph)
        , side_(side)
        , partner_(graph.size(), unmatched) {
        for (uint32_t v = 0; v < graph.size(); ++v) {
            seen_.assign(graph.size(), false);
            if (side[v] == left) augment(v);
        }
    }
    std::vector<uint32_t> cover() {
        seen_.assign(graph_.size(), false);
        for (uint32_t v = 0; v < graph_.size(); ++v)
            if (side_[v] == left && partner_[v] == unmatched) mark_reachable(v);
        std::vector<uint32_t> result;
        for (uint32_t v = 0; v < graph_.size(); ++v)
            if ((side_[v] == left && partner_[v] != unmatched && !seen_[v]) ||
                (side_[v] == right && seen_[v]))
                result.push_back(v);
        return result;
    }

  private:
    static constexpr uint32_t unmatched = UINT32_MAX;
    bool augment(uint32_t v) {
        for (const Graph::Neighbor& l : graph_.neighbors(v)) {
            if (side_[l.to] != right || seen_[l.to]) continue;
            seen_[l.to] = true;
            if (partner_[l.to] != unmatched && !augment(partner_[l.to])) continue;
            partner_[l.to] = v;
            partner_[v] = l.to;
            return true;
        }
        return false;
    }
    // Marks vertices reachable on alternating paths from an unmatched left vertex.
    void mark_reachable(uint32_t first) {
        std::vector<uint32_t> next{first};
        seen_[first] = true;
        for (size_t i = 0; i < next.size(); ++i)
            for (const Graph::Neighbor& l : graph_.neighbors(next[i])) {
                if (side_[l.to] != right || seen_[l.to]) continue;
                seen_[l.to] = true;
                const uint32_t partner = partner_[l.to];
                if (partner == unmatched || seen_[partner]) continue;
                seen_[partner] = true;
                next.push_back(partner);
            }
    }
    const Graph& graph_;
    const std::vector<uint32_t>& side_;
    std::vector<uint32_t> partner_;
    std::vector<bool> seen_;
};

// Moves vertices that cover most of the cut into the middle, up to its capacity.
void move_cover_to_middle(const Graph& graph, uint32_t capacity, std::vector<uint32_t>& side) {
    std::vector<uint32_t> cover = minimum_vertex_cover(graph, side);
    while (capacity > 0 && !cover.empty()) {
        const auto covers = [&](uint32_t v) {
            double sum = 0;
            for (const Graph::Neighbor& l : graph.neighbors(v))
                if (side[l.to] != middle && side[l.to] != side[v]) sum += l.weight;
            return sum;
        };
        const auto best = std::max_element(cover.begin(), cover.end(),
                                           [&](uint32_t a, uint32_t b) { return covers(a) < covers(b); });
        side[*best] = middle;
        cover.erase(best);
        --capacity;
    }
}

// Keeps the best candidate.
class BestSeparator {
  public:
    BestSeparator(const Graph& graph, const SideCapacity& capacity)
        : graph_(graph)
        , capacity_(capacity)
        , targets_(three_sides(capacity)) {}
    void consider(std::vector<uint32_t> side) {
        enforce_capacity(graph_, capacity_, side);
        keep_if_better(std::move(side));
    }
    void refine(uint64_t budget) {
        if (side_.empty() || weight_ == 0) return;
        std::vector<uint32_t> side = side_;
        search(graph_, targets_, side, budget, 1);
        keep_if_better(std::move(side));
    }
    void consider_refined(std::vector<uint32_t> side) {
        enforce_capacity(graph_, capacity_, side);
        descend(graph_, targets_, side, start_budget);
        keep_if_better(std::move(side));
    }
    [[nodiscard]] const std::vector<uint32_t>& side() const { return side_; }
    [[nodiscard]] bool is_perfect() const { return !side_.empty() && weight_ == 0; }

  private:
    void keep_if_better(std::vector<uint32_t> side) {
        const double weight = cut_weight(graph_, side);
        if (!side_.empty() && weight >= weight_) return;
        side_ = std::move(side);
        weight_ = weight;
    }
    const Graph& graph_;
    const SideCapacity& capacity_;
    Targets targets_;
    std::vector<uint32_t> side_;
    double weight_ = 0;
};

// Breadth-first orders from many roots: the vertices at one distance from a root are a separator.
void consider_walks(const Graph& graph, const SideCapacity& capacity, BestSeparator& best) {
    const uint32_t n = graph.size();
    const uint32_t middle_size = std::min(capacity.middle, n);
    const uint32_t rest = n - middle_size;
    const uint32_t lowest = rest > capacity.right ? rest - capacity.right : 0;
    const uint32_t highest = std::min(capacity.left, rest);
    const uint32_t step = std::max(1U, (highest - lowest) / 32);
    std::vector<uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0U);
    for (uint32_t at = lowest; at <= highest; at += step) best.consider(split_order(order, at, middle_size));
    const uint32_t stride = std::max(1U, n / most_roots);
    for (uint32_t root = 0; root < n && !best.is_perfect(); root += stride) {
        order = breadth_first_order(graph, root);
        for (uint32_t at = lowest; at <= highest && !best.is_perfect(); at += step)
            best.consider(split_order(order, at, middle_size));
    }
}

} // namespace

double cut_weight(const Graph& graph, const std::vector<uint32_t>& side) {
    double sum = 0;
    for (uint32_t v = 0; v < graph.size(); ++v)
        for (const Graph::Neighbor& l : graph.neighbors(v))
            if (side[v] == left && side[l.to] == right) sum += l.weight;
    return sum;
}

std::vector<uint32_t> minimum_vertex_cover(const Graph& graph, const std::vector<uint32_t>& side) {
    return Matching(graph, side).cover();
}

std::vector<uint32_t> separate(const Graph& graph, const SideCapacity& capacity, const GraphTools* tools) {
    const uint32_t n = graph.size();
    BestSeparator best(graph, capacity);
    if (n == 0) return {};
    const uint64_t sides = std::max<uint64_t>(1, uint64_t{capacity.left} + capacity.right);
    for (const GraphTools* with : {tools, static_cast<const GraphTools*>(nullptr)}) {
        const auto left_size = static_cast<uint32_t>(uint64_t{n} * capacity.left / sides);
        std::vector<uint32_t> side = partition(graph, {left_size, n - left_size}, with);
        best.consider_refined(side); // plain cut, so that the result is never worse
        move_cover_to_middle(graph, capacity.middle, side);
        best.consider_refined(std::move(side));
    }
    if (tools != nullptr && tools->separate != nullptr && graph.neighbor_count() > 0) {
        const CsrCopy raw(graph);
        std::vector<int32_t> found(n);
        if (tools->separate(raw.view(), found.data()))
            best.consider_refined(std::vector<uint32_t>(found.begin(), found.end()));
    }
    consider_walks(graph, capacity, best);
    best.refine(start_budget * 2);
    return best.side();
}

} // namespace zipmpi::mapping
