// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/refine.hpp"

#include "mapping/random.hpp"

#include <algorithm>

namespace zipmpi::mapping {
namespace {

constexpr uint64_t most_table = 1U << 25; // doubles
constexpr uint32_t most_dense = 2048;     // ranks

// What is known of an assignment so that a change can be judged in a few operations: for each rank, the cost
// of its messages if it were on each of the targets.
class Ledger {
  public:
    Ledger(const Graph& graph, const Targets& targets, Assignment& at)
        : graph_(graph)
        , targets_(targets)
        , at_(at)
        , kinds_(targets.size())
        , cost_if_(size_t{graph.size()} * kinds_)
        , free_(targets.room.begin(), targets.room.end()) {
        if (graph.size() <= most_dense) dense_.resize(size_t{graph.size()} * graph.size());
        for (uint32_t v = 0; v < graph.size(); ++v) {
            --free_[at[v]];
            for (const Graph::Link& l : graph.links(v)) {
                if (!dense_.empty()) dense_[size_t{v} * graph.size() + l.to] = l.weight;
                for (uint32_t k = 0; k < kinds_; ++k)
                    cost_if_[size_t{v} * kinds_ + k] += l.weight * targets.between(k, at[l.to]);
            }
        }
    }
    [[nodiscard]] double swap_change(uint32_t u, uint32_t v) const {
        const uint32_t a = at_[u];
        const uint32_t b = at_[v];
        const double apart = targets_.between(a, b);
        // The message between the two travels as far as before; the table does not know that the other goes.
        return cost_if(u, b) - cost_if(u, a) + cost_if(v, a) - cost_if(v, b) -
               weight(u, v) * (targets_.between(a, a) + targets_.between(b, b) - 2 * apart);
    }
    [[nodiscard]] double move_change(uint32_t v, uint32_t to) const {
        return cost_if(v, to) - cost_if(v, at_[v]);
    }
    [[nodiscard]] bool has_room(uint32_t target) const { return free_[target] > 0; }
    void move(uint32_t v, uint32_t to) {
        const uint32_t from = at_[v];
        for (const Graph::Link& l : graph_.links(v)) {
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
        for (const Graph::Link& l : graph_.links(u))
            if (l.to == v) return l.weight;
        return 0;
    }
    const Graph& graph_;
    const Targets& targets_;
    Assignment& at_;
    uint32_t kinds_;
    std::vector<double> cost_if_, dense_;
    std::vector<int64_t> free_; // room that is left
};

class Search {
  public:
    Search(const Graph& graph, const Targets& targets, Assignment& at, uint64_t looks)
        : targets_(targets)
        , at_(at)
        , ledger_(graph, targets, at)
        , looks_(looks)
        , small_(1e-9 * (1 + cost_of(graph, targets, at))) {}

    // Returns by how much the cost has changed.
    double descend() {
        double change = 0;
        for (bool better = true; better && looks_ > 0;) {
            better = false;
            for (uint32_t u = 0; u < at_.size() && looks_ > 0; ++u) {
                const double gain = improve(u);
                change += gain;
                better = better || gain < 0;
            }
        }
        return change;
    }
    double kick(Random& random, uint32_t swaps) {
        double change = 0;
        for (uint32_t i = 0; i < swaps; ++i) {
            const uint32_t u = random.below(static_cast<uint32_t>(at_.size()));
            const uint32_t v = random.below(static_cast<uint32_t>(at_.size()));
            if (at_[u] == at_[v]) continue;
            change += ledger_.swap_change(u, v);
            ledger_.swap(u, v);
        }
        return change;
    }
    void restore(const Assignment& to) { // rooms are left out: both keep to them
        for (uint32_t v = 0; v < to.size(); ++v)
            if (at_[v] != to[v]) ledger_.move(v, to[v]);
    }
    [[nodiscard]] bool tired() const { return looks_ == 0; }
    [[nodiscard]] double small() const { return small_; }

  private:
    // The best exchange or move for one rank.
    double improve(uint32_t u) {
        double best = -small_;
        uint32_t with = UINT32_MAX;
        bool moves = false;
        for (uint32_t v = 0; v < at_.size(); ++v) {
            if (at_[v] == at_[u]) continue;
            if (const double c = ledger_.swap_change(u, v); c < best) best = c, with = v;
        }
        for (uint32_t k = 0; k < targets_.size(); ++k) {
            if (k == at_[u] || !ledger_.has_room(k)) continue;
            if (const double c = ledger_.move_change(u, k); c < best) best = c, with = k, moves = true;
        }
        looks_ -= std::min<uint64_t>(looks_, at_.size() + targets_.size());
        if (with == UINT32_MAX) return 0;
        if (moves)
            ledger_.move(u, with);
        else
            ledger_.swap(u, with);
        return best;
    }
    const Targets& targets_;
    Assignment& at_;
    Ledger ledger_;
    uint64_t looks_;
    double small_; // less is no gain but rounding
};

bool fits(const Graph& graph, const Targets& targets) {
    return uint64_t{graph.size()} * targets.size() <= most_table && graph.size() > 1 && targets.size() > 1;
}

} // namespace

void descend(const Graph& graph, const Targets& targets, Assignment& assignment, uint64_t looks) {
    if (fits(graph, targets)) Search(graph, targets, assignment, looks).descend();
}

void search(const Graph& graph, const Targets& targets, Assignment& assignment, uint64_t looks,
            uint64_t seed) {
    if (!fits(graph, targets)) return;
    Search state(graph, targets, assignment, looks);
    Random random(seed);
    state.descend();
    Assignment best = assignment; // strictly better than all before it
    Assignment here = assignment; // as good as the best: the search goes on from here
    double level = 0;
    double lowest = 0;
    while (!state.tired()) {
        const uint32_t most_swaps = std::max(3U, graph.size() / 8);
        double next = level + state.kick(random, 2 + random.below(most_swaps));
        next += state.descend();
        if (next > lowest + state.small()) {
            state.restore(here);
            continue;
        }
        if (next < lowest - state.small()) best = assignment;
        here = assignment;
        level = next;
        lowest = std::min(lowest, level);
    }
    state.restore(best);
}

} // namespace zipmpi::mapping
