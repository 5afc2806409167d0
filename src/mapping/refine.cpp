// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/refine.hpp"

#include "mapping/random.hpp"

#include <algorithm>

namespace zipmpi::mapping {
namespace {

constexpr uint64_t most_table = 1U << 25; // doubles
constexpr uint32_t most_dense = 2048;     // ranks

// Costs of an assignment, so that a change can be evaluated in a few operations: for each rank and target,
// the cost of the rank's messages if it were on that target.
class CostTable {
  public:
    CostTable(const Graph& graph, const Targets& targets, Assignment& at)
        : graph_(graph)
        , targets_(targets)
        , at_(at)
        , kinds_(targets.size())
        , cost_if_(size_t{graph.size()} * kinds_)
        , free_(targets.capacity.begin(), targets.capacity.end()) {
        if (graph.size() <= most_dense) dense_.resize(size_t{graph.size()} * graph.size());
        for (uint32_t v = 0; v < graph.size(); ++v) {
            --free_[at[v]];
            for (const Graph::Neighbor& l : graph.neighbors(v)) {
                if (!dense_.empty()) dense_[size_t{v} * graph.size() + l.to] = l.weight;
                for (uint32_t k = 0; k < kinds_; ++k)
                    cost_if_[size_t{v} * kinds_ + k] += l.weight * targets.between(k, at[l.to]);
            }
        }
    }
    [[nodiscard]] double swap_change(uint32_t u, uint32_t v) const {
        const uint32_t a = at_[u];
        const uint32_t b = at_[v];
        const double distance = targets_.between(a, b);
        // The distance between the two does not change; the table assumes that the other rank stays.
        return cost_if(u, b) - cost_if(u, a) + cost_if(v, a) - cost_if(v, b) -
               weight(u, v) * (targets_.between(a, a) + targets_.between(b, b) - 2 * distance);
    }
    [[nodiscard]] double move_change(uint32_t v, uint32_t to) const {
        return cost_if(v, to) - cost_if(v, at_[v]);
    }
    [[nodiscard]] bool has_capacity(uint32_t target) const { return free_[target] > 0; }
    void move(uint32_t v, uint32_t to) {
        const uint32_t from = at_[v];
        for (const Graph::Neighbor& l : graph_.neighbors(v)) {
            double* row = &cost_if_[size_t{l.to} * kinds_];
            const double* was = &targets_.distance[size_t{from} * kinds_];
            const double* is = &targets_.distance[size_t{to} * kinds_];
            for (uint32_t k = 0; k < kinds_; ++k) row[k] += l.weight * (is[k] - was[k]);
        }
        ++free_[from];
        --free_[to];
        at_[v] = to;
    }
    void swap(uint32_t u, uint32_t v) {
        const uint32_t a = at_[u];
        move(u, at_[v]);
        move(v, a);
    }

  private:
    [[nodiscard]] double cost_if(uint32_t v, uint32_t k) const { return cost_if_[size_t{v} * kinds_ + k]; }
    [[nodiscard]] double weight(uint32_t u, uint32_t v) const {
        if (!dense_.empty()) return dense_[size_t{u} * graph_.size() + v];
        for (const Graph::Neighbor& l : graph_.neighbors(u))
            if (l.to == v) return l.weight;
        return 0;
    }
    const Graph& graph_;
    const Targets& targets_;
    Assignment& at_;
    uint32_t kinds_;
    std::vector<double> cost_if_, dense_;
    std::vector<int64_t> free_; // free capacity
};

class AssignmentSearch {
  public:
    AssignmentSearch(const Graph& graph, const Targets& targets, Assignment& at, uint64_t budget,
                     uint32_t first_movable = 0)
        : targets_(targets)
        , at_(at)
        , costs_(graph, targets, at)
        , budget_(budget)
        , first_movable_(first_movable)
        , tolerance_(1e-9 * (1 + cost_of(graph, targets, at))) {}

    // Returns the change of the cost.
    double descend() {
        double change = 0;
        for (bool better = true; better && budget_ > 0;) {
            better = false;
            for (uint32_t u = first_movable_; u < at_.size() && budget_ > 0; ++u) {
                const double gain = improve(u);
                change += gain;
                better = better || gain < 0;
            }
        }
        return change;
    }
    double perturb(Random& random, uint32_t swaps) {
        double change = 0;
        for (uint32_t i = 0; i < swaps; ++i) {
            const uint32_t u = random.below(static_cast<uint32_t>(at_.size()));
            const uint32_t v = random.below(static_cast<uint32_t>(at_.size()));
            if (at_[u] == at_[v]) continue;
            change += costs_.swap_change(u, v);
            costs_.swap(u, v);
        }
        return change;
    }
    void restore(const Assignment& to) { // both assignments respect the capacities
        for (uint32_t v = 0; v < to.size(); ++v)
            if (at_[v] != to[v]) costs_.move(v, to[v]);
    }
    [[nodiscard]] bool is_exhausted() const { return budget_ == 0; }
    [[nodiscard]] double tolerance() const { return tolerance_; }

  private:
    // The best exchange or move for one rank.
    double improve(uint32_t u) {
        double best = -tolerance_;
        uint32_t with = UINT32_MAX;
        bool moves = false;
        for (uint32_t v = first_movable_; v < at_.size(); ++v) {
            if (at_[v] == at_[u]) continue;
            if (const double c = costs_.swap_change(u, v); c < best) best = c, with = v;
        }
        for (uint32_t k = 0; k < targets_.size(); ++k) {
            if (k == at_[u] || !costs_.has_capacity(k)) continue;
            if (const double c = costs_.move_change(u, k); c < best) best = c, with = k, moves = true;
        }
        budget_ -= std::min<uint64_t>(budget_, at_.size() + targets_.size());
        if (with == UINT32_MAX) return 0;
        if (moves)
            costs_.move(u, with);
        else
            costs_.swap(u, with);
        return best;
    }
    const Targets& targets_;
    Assignment& at_;
    CostTable costs_;
    uint64_t budget_;
    uint32_t first_movable_;
    double tolerance_; // smaller gains are rounding errors
};

bool fits(const Graph& graph, const Targets& targets) {
    return uint64_t{graph.size()} * targets.size() <= most_table && graph.size() > 1 && targets.size() > 1;
}

} // namespace

void descend(const Graph& graph, const Targets& targets, Assignment& assignment, uint64_t budget,
             uint32_t first_movable) {
    if (fits(graph, targets)) AssignmentSearch(graph, targets, assignment, budget, first_movable).descend();
}

void search(const Graph& graph, const Targets& targets, Assignment& assignment, uint64_t budget,
            uint64_t seed) {
    if (!fits(graph, targets)) return;
    AssignmentSearch state(graph, targets, assignment, budget);
    Random random(seed);
    state.descend();
    Assignment best = assignment; // strictly better than all before it
    Assignment here = assignment; // equal to the best; the search continues from here
    double level = 0;
    double lowest = 0;
    while (!state.is_exhausted()) {
        const uint32_t most_swaps = std::max(3U, graph.size() / 8);
        double next = level + state.perturb(random, 2 + random.below(most_swaps));
        next += state.descend();
        if (next > lowest + state.tolerance()) {
            state.restore(here);
            continue;
        }
        if (next < lowest - state.tolerance()) best = assignment;
        here = assignment;
        level = next;
        lowest = std::min(lowest, level);
    }
    state.restore(best);
}

} // namespace zipmpi::mapping
