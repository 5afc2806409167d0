// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/placement/rebinder.hpp"

#include "launch/placement/by_traffic.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace zipmpi::launch {
namespace {

constexpr double seconds_per_cost = 100e-9; // one message between neighbors
constexpr double seconds_per_move = 200e-6; // refill of a rank's caches
constexpr double horizon = 4;               // samples within which a move must pay off
constexpr double min_gain = 0.1;            // of the cost: below it ranks stay
constexpr double min_rate = 1000;           // messages per second and node: below it ranks stay
constexpr double similarity_limit = 0.2;    // share of messages that differs
constexpr double min_relative_rate = 0.95;
constexpr uint32_t samples_per_trial = 2;
constexpr uint32_t result_lifetime = 120; // samples after which a pattern is tried again
constexpr size_t max_results = 16;
constexpr uint64_t search_budget = 200'000;

double total_weight(const mapping::Graph& g) {
    double sum = 0;
    for (uint32_t v = 0; v < g.size(); ++v)
        for (const auto& l : g.neighbors(v)) sum += l.weight;
    return sum / 2;
}

// Compares the communicating pairs. Each pair is seen from both sides.
bool is_similar(const mapping::Graph& a, const mapping::Graph& b) {
    const double all_a = total_weight(a);
    const double all_b = total_weight(b);
    if (a.size() != b.size() || all_a <= 0 || all_b <= 0) return false;
    double differs = 0;
    std::vector<double> row(a.size());
    for (uint32_t v = 0; v < a.size(); ++v) {
        std::fill(row.begin(), row.end(), 0);
        for (const auto& l : a.neighbors(v)) row[l.to] += l.weight / all_a;
        for (const auto& l : b.neighbors(v)) row[l.to] -= l.weight / all_b;
        for (const double d : row) differs += std::abs(d);
    }
    return differs / 4 < similarity_limit;
}

std::string percent(double ratio) {
    char text[32];
    std::snprintf(text, sizeof text, "%.0f %%", ratio * 100);
    return text;
}

} // namespace

Rebinder::Rebinder(HostCores cores, uint32_t ranks)
    : cores_(std::move(cores))
    , targets_(
          mapping::cores_as_targets(cores_.localities, ranks, mapping::spread_order(cores_.localities))) {}

// Unbound ranks may be anywhere: each pair counts as far apart as cores are on average.
double Rebinder::present_cost(const mapping::Graph& sent) const {
    if (!current_.empty()) return mapping::cost_of(sent, targets_, current_);
    double sum = 0;
    for (const double d : targets_.distance) sum += d;
    return total_weight(sent) * sum / static_cast<double>(targets_.distance.size());
}

void Rebinder::begin_trial(Trial trial) {
    trial_ = trial;
    trial_samples_ = 0;
    trial_rate_sum_ = 0;
}

const Rebinder::TrialResult* Rebinder::find_result(const mapping::Graph& sent) const {
    for (const TrialResult& k : results_)
        if (k.samples_left > 0 && is_similar(k.pattern, sent)) return &k;
    return nullptr;
}

void Rebinder::store_result(const mapping::Graph& sent, bool beneficial) {
    begin_trial(Trial::none);
    if (results_.size() == max_results) results_.erase(results_.begin());
    results_.push_back({sent, beneficial, result_lifetime});
}

Rebinder::RebindDecision Rebinder::assess_trial(const mapping::Graph& sent, double rate) {
    trial_rate_sum_ += rate;
    if (++trial_samples_ < samples_per_trial) return {};
    const double mean = trial_rate_sum_ / trial_samples_;
    return trial_ == Trial::moved ? assess_move(sent, mean) : assess_return(sent, mean);
}

Rebinder::RebindDecision Rebinder::assess_move(const mapping::Graph& sent, double rate) {
    if (rate >= min_relative_rate * rate_before_) {
        store_result(sent, true);
        return {false, "the move is kept: the message rate is " + percent(rate / rate_before_) +
                           " of that before the move"};
    }
    rate_moved_ = rate;
    std::swap(current_, alternative_);
    begin_trial(Trial::reverted);
    return {true, "the message rate is " + percent(rate / rate_before_) +
                      " of that before the move: ranks move back for comparison"};
}

Rebinder::RebindDecision Rebinder::assess_return(const mapping::Graph& sent, double rate) {
    const bool beneficial = rate_moved_ >= min_relative_rate * rate;
    store_result(sent, beneficial);
    const std::string ratio = percent(rate_moved_ / rate);
    if (!beneficial)
        return {false, "the move does not pay: its message rate was " + ratio + " of the present one"};
    std::swap(current_, alternative_);
    return {true, "the move is repeated: its message rate was " + ratio + " of the present one"};
}

Rebinder::RebindDecision Rebinder::evaluate(const mapping::Graph& sent, double rate) {
    evaluated_ = sent;
    evaluated_rate_ = rate;
    const TrialResult* before = find_result(sent);
    if (before != nullptr && !before->beneficial) return {false, "no move: it does not pay for this pattern"};
    BetterPlacement better = find_better(sent);
    if (better.moves == 0) return {};
    const double saved_seconds = better.saved * seconds_per_cost * horizon;
    if (saved_seconds < better.moves * seconds_per_move)
        return {false, "no move: it would cost more than it saves"};
    rate_before_ = (rate + last_rate_) / 2;
    begin_trial(before == nullptr ? Trial::moved : Trial::none);
    return move_to(std::move(better));
}

Rebinder::BetterPlacement Rebinder::find_better(const mapping::Graph& sent) const {
    mapping::Effort effort;
    effort.budget = search_budget;
    BetterPlacement better;
    better.cores = mapping::assign_ranks(
        sent, targets_, effort, {current_.empty() ? mapping::assign_block(sent.size(), targets_) : current_});
    const double now = present_cost(sent);
    better.saved = now - mapping::cost_of(sent, targets_, better.cores);
    better.ratio = now > 0 ? better.saved / now : 0;
    if (better.ratio < min_gain) return better;
    for (uint32_t r = 0; r < sent.size(); ++r)
        better.moves += current_.empty() || current_[r] != better.cores[r] ? 1U : 0U;
    return better;
}

Rebinder::RebindDecision Rebinder::move_to(BetterPlacement&& better) {
    alternative_ = std::move(current_);
    current_ = std::move(better.cores);
    return {true, std::to_string(better.moves) + " ranks move: " + percent(better.ratio) +
                      " less communication cost"};
}

Rebinder::RebindDecision Rebinder::remap(const mapping::Graph& sent) {
    if (targets_.size() < 2) return {};
    begin_trial(Trial::none);
    BetterPlacement better = find_better(sent);
    return better.moves != 0 ? move_to(std::move(better))
                             : RebindDecision{false, "no move: the placement suits these messages"};
}

Rebinder::RebindDecision Rebinder::observe(const mapping::Graph& sent, double seconds) {
    if (targets_.size() < 2 || seconds <= 0) return {};
    for (TrialResult& k : results_)
        if (k.samples_left > 0) --k.samples_left;
    const double rate = total_weight(sent) / seconds;
    const bool steady = rate >= min_rate && is_similar(sent, last_sample_);
    RebindDecision decision;
    if (!steady) {
        begin_trial(Trial::none); // a trial is void when the pattern changes
    } else if (trial_ != Trial::none) {
        decision = assess_trial(sent, rate);
    } else if (!is_similar(sent, evaluated_) || rate >= 2 * evaluated_rate_) {
        decision = evaluate(sent, rate);
    }
    last_sample_ = sent;
    last_rate_ = rate;
    return decision;
}

std::vector<CpuList> Rebinder::cpus() const {
    std::vector<CpuList> result;
    if (current_.empty()) return std::vector<CpuList>(targets_.total_capacity(), all_cpus(cores_));
    const bool shared = current_.size() > cores_.size();
    for (const uint32_t core : current_)
        result.push_back(shared ? cpus_sharing_l2(cores_, core) : cores_.cpus[core]);
    return result;
}

} // namespace zipmpi::launch
