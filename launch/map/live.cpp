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
constexpr double horizon = 4;               // looks during which a move must have paid for itself
constexpr double least_gain = 0.1;          // of the cost: below it nobody moves
constexpr double least_rate = 1000;         // messages per second and node: below it nobody cares
constexpr double like_before = 0.2;         // share of messages that go elsewhere
constexpr double still_as_fast = 0.95;
constexpr uint32_t looks_per_trial = 2;
constexpr uint32_t looks_known = 120; // programs and neighbours change: then a trial is worth its time again
constexpr size_t most_known = 16;
constexpr uint64_t search_looks = 200'000;

double total(const mapping::Graph& g) {
    double sum = 0;
    for (uint32_t v = 0; v < g.size(); ++v)
        for (const auto& l : g.links(v)) sum += l.weight;
    return sum / 2;
}

// Do the same pairs talk? Each pair is seen from both ends.
bool alike(const mapping::Graph& a, const mapping::Graph& b) {
    const double all_a = total(a);
    const double all_b = total(b);
    if (a.size() != b.size() || all_a <= 0 || all_b <= 0) return false;
    double differs = 0;
    std::vector<double> row(a.size());
    for (uint32_t v = 0; v < a.size(); ++v) {
        std::fill(row.begin(), row.end(), 0);
        for (const auto& l : a.links(v)) row[l.to] += l.weight / all_a;
        for (const auto& l : b.links(v)) row[l.to] -= l.weight / all_b;
        for (const double d : row) differs += std::abs(d);
    }
    return differs / 4 < like_before;
}

std::string percent(double part) {
    char text[32];
    std::snprintf(text, sizeof text, "%.0f %%", part * 100);
    return text;
}

} // namespace

LiveMap::LiveMap(HostCores cores, uint32_t ranks)
    : cores_(std::move(cores))
    , targets_(mapping::cores_as_targets(cores_.places, ranks, mapping::spread_order(cores_.places))) {}

// Ranks that the kernel places are anywhere: each pair is as far apart as cores are on the average.
double LiveMap::present_cost(const mapping::Graph& sent) const {
    if (!at_.empty()) return mapping::cost_of(sent, targets_, at_);
    double sum = 0;
    for (const double d : targets_.distance) sum += d;
    return total(sent) * sum / static_cast<double>(targets_.distance.size());
}

void LiveMap::begin(Trial trial) {
    trial_ = trial;
    looks_of_trial_ = 0;
    sum_of_trial_ = 0;
}

const LiveMap::Known* LiveMap::known(const mapping::Graph& sent) const {
    for (const Known& k : known_)
        if (k.looks_left > 0 && alike(k.pattern, sent)) return &k;
    return nullptr;
}

void LiveMap::remember(const mapping::Graph& sent, bool pays) {
    begin(Trial::none);
    if (known_.size() == most_known) known_.erase(known_.begin());
    known_.push_back({sent, pays, looks_known});
}

LiveMap::Decision LiveMap::judge(const mapping::Graph& sent, double rate) {
    sum_of_trial_ += rate;
    if (++looks_of_trial_ < looks_per_trial) return {};
    const double mean = sum_of_trial_ / looks_of_trial_;
    return trial_ == Trial::moved ? judge_move(sent, mean) : judge_return(sent, mean);
}

LiveMap::Decision LiveMap::judge_move(const mapping::Graph& sent, double rate) {
    if (rate >= still_as_fast * rate_before_) {
        remember(sent, true);
        return {false, "the move stays: messages are " + percent(rate / rate_before_) + " of before"};
    }
    rate_moved_ = rate;
    std::swap(at_, other_);
    begin(Trial::taken_back);
    return {true,
            "messages are " + percent(rate / rate_before_) + " of before the move: ranks go back to compare"};
}

LiveMap::Decision LiveMap::judge_return(const mapping::Graph& sent, double rate) {
    const bool pays = rate_moved_ >= still_as_fast * rate;
    remember(sent, pays);
    const std::string part = percent(rate_moved_ / rate);
    if (!pays)
        return {false, "it does not pay: where ranks had moved to, messages were " + part + " of here"};
    std::swap(at_, other_);
    return {true, "the move stays after all: there messages were " + part + " of here"};
}

LiveMap::Decision LiveMap::think(const mapping::Graph& sent, double rate) {
    thought_of_ = sent;
    thought_rate_ = rate;
    const Known* before = known(sent);
    if (before != nullptr && !before->pays) return {false, "another pattern, for which to move does not pay"};
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
    other_ = std::move(at_);
    at_ = std::move(best);
    rate_before_ = (rate + last_rate_) / 2;
    begin(before == nullptr ? Trial::moved : Trial::none);
    return {true,
            std::to_string(moves) + " ranks move: " + percent(gain / now) + " less to travel for messages"};
}

LiveMap::Decision LiveMap::look(const mapping::Graph& sent, double seconds) {
    if (targets_.size() < 2 || seconds <= 0) return {};
    for (Known& k : known_)
        if (k.looks_left > 0) --k.looks_left;
    const double rate = total(sent) / seconds;
    const bool steady = rate >= least_rate && alike(sent, last_);
    Decision decision;
    if (!steady) {
        begin(Trial::none); // whatever was tried, it was tried for another pattern
    } else if (trial_ != Trial::none) {
        decision = judge(sent, rate);
    } else if (!alike(sent, thought_of_) || rate >= 2 * thought_rate_) {
        decision = think(sent, rate);
    }
    last_ = sent;
    last_rate_ = rate;
    return decision;
}

std::vector<CpuList> LiveMap::cpus() const {
    std::vector<CpuList> result;
    if (at_.empty()) return std::vector<CpuList>(targets_.total_room(), all_cpus(cores_));
    const bool shared = at_.size() > cores_.size();
    for (const uint32_t core : at_) result.push_back(shared ? below_cache(cores_, core) : cores_.cpus[core]);
    return result;
}

} // namespace zipmpi::launch
