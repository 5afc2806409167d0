// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/map/live.hpp"

#include "launch/map/by_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace zipmpi::launch {
namespace {

constexpr double seconds_per_cost = 100e-9; // one message between neighbours
constexpr double seconds_per_move = 200e-6; // caches that a rank has to fill again
constexpr double horizon = 2;               // looks during which a move must have paid for itself
constexpr double least_gain = 0.1;          // of the cost: below it nobody moves
constexpr double least_rate = 1000;         // messages per second and node: below it nobody cares
constexpr double like_before = 0.2;         // share of messages that go elsewhere
constexpr double still_as_fast = 0.95;
constexpr uint32_t looks_after_a_mistake = 30;
constexpr uint64_t search_looks = 200'000;

double total(const mapping::Graph& g) {
    double sum = 0;
    for (uint32_t v = 0; v < g.size(); ++v)
        for (const auto& l : g.links(v)) sum += l.weight;
    return sum / 2;
}

std::string percent(double part) {
    char text[32];
    std::snprintf(text, sizeof text, "%.0f %%", part * 100);
    return text;
}

} // namespace

LiveMap::LiveMap(std::vector<CpuList> cores, std::vector<topo::Place> places, uint32_t ranks)
    : cores_(std::move(cores))
    , places_(std::move(places))
    , targets_(mapping::cores_as_targets(places_, ranks, mapping::spread_order(places_))) {}

// Ranks that the kernel places are anywhere: each pair is as far apart as cores are on the average.
double LiveMap::present_cost(const mapping::Graph& sent) const {
    if (!at_.empty()) return mapping::cost_of(sent, targets_, at_);
    double sum = 0;
    for (const double d : targets_.distance) sum += d;
    return total(sent) * sum / static_cast<double>(targets_.distance.size());
}

bool LiveMap::is_like_before(const mapping::Graph& sent, double rate) const {
    if (thought_of_.size() != sent.size() || thought_rate_ <= 0) return false;
    double differs = 0;
    std::vector<double> row(sent.size());
    const double now = total(sent);
    const double then = total(thought_of_);
    for (uint32_t v = 0; v < sent.size(); ++v) {
        std::fill(row.begin(), row.end(), 0);
        for (const auto& l : sent.links(v)) row[l.to] += l.weight / now;
        for (const auto& l : thought_of_.links(v)) row[l.to] -= l.weight / then;
        for (const double d : row) differs += std::abs(d);
    }
    return differs / 4 < like_before && rate < 2 * thought_rate_; // each pair is seen from both ends
}

LiveMap::Decision LiveMap::judge_last_move(const mapping::Graph& sent, double rate) {
    just_moved_ = false;
    if (!is_like_before(sent, 0) || rate >= still_as_fast * rate_before_) return {};
    std::swap(at_, before_);
    patience_ = looks_after_a_mistake;
    return {true, "it does not pay: messages are " + percent(1 - rate / rate_before_) +
                      " fewer than before the move, which is taken back"};
}

LiveMap::Decision LiveMap::think(const mapping::Graph& sent, double rate) {
    thought_of_ = sent;
    thought_rate_ = rate;
    mapping::Effort effort;
    effort.looks = search_looks;
    mapping::Assignment best = mapping::best_assignment(
        sent, targets_, effort, {at_.empty() ? mapping::fill(sent.size(), targets_) : at_});
    const double now = present_cost(sent);
    const double gain = now - mapping::cost_of(sent, targets_, best);
    uint32_t moves = 0;
    for (uint32_t r = 0; r < sent.size(); ++r) moves += at_.empty() || at_[r] != best[r] ? 1U : 0U;
    if (moves == 0 || gain < least_gain * now) return {};
    const double pays = gain * seconds_per_cost * horizon;
    if (pays < moves * seconds_per_move) return {false, "a move would cost more than it brings"};
    before_ = std::move(at_);
    at_ = std::move(best);
    rate_before_ = rate;
    just_moved_ = true;
    return {true,
            std::to_string(moves) + " ranks move: " + percent(gain / now) + " less to travel for messages"};
}

LiveMap::Decision LiveMap::look(const mapping::Graph& sent, double seconds) {
    if (targets_.size() < 2 || seconds <= 0) return {};
    const double rate = total(sent) / seconds;
    if (just_moved_) return judge_last_move(sent, rate);
    if (patience_ > 0) {
        --patience_;
        return {};
    }
    if (rate < least_rate || is_like_before(sent, rate)) return {};
    return think(sent, rate);
}

std::vector<CpuList> LiveMap::cpus() const {
    std::vector<CpuList> result;
    if (at_.empty()) {
        CpuList all;
        for (const CpuList& c : cores_) all.insert(all.end(), c.begin(), c.end());
        std::sort(all.begin(), all.end());
        uint64_t ranks = targets_.total_room();
        for (; ranks > 0; --ranks) result.push_back(all);
        return result;
    }
    const bool shared = at_.size() > cores_.size();
    for (const uint32_t core : at_)
        result.push_back(shared ? below_cache(cores_, places_, core) : cores_[core]);
    return result;
}

} // namespace zipmpi::launch
