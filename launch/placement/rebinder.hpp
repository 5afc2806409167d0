// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The rebinder: decides from message counts when to move the ranks of a node to other cores. A pure state
// machine; the daemon supplies the counts and carries out the decisions.
#pragma once

#include "launch/placement/placement.hpp"

#include "mapping/assign.hpp"

#include <string>

namespace zipmpi::launch {

// The sampling interval is half of the time within which a change must be detected: one sample may cover two
// patterns of a program, two consecutive equal samples cover one.
class Rebinder {
  public:
    Rebinder() = default;
    Rebinder(HostCores cores, uint32_t ranks);

    struct RebindDecision {
        bool move = false;
        std::string reason; // for the report; empty: nothing to report
    };
    // sent: messages since the last call; seconds: time since then.
    RebindDecision observe(const mapping::Graph& sent, double seconds);
    // The program asks for a placement by these messages: without a second sample, and without a trial.
    RebindDecision remap(const mapping::Graph& sent);

    // CPUs of each rank after a decision to move; all CPUs of the job for a rank that is not bound.
    [[nodiscard]] std::vector<CpuList> cpus() const;

  private:
    // A move is tried: message rates are compared after it and, if they have dropped, again at the previous
    // CPUs.
    enum class Trial : uint8_t { none, moved, reverted };
    struct TrialResult { // outcome of earlier trials
        mapping::Graph pattern;
        bool beneficial = false;
        uint32_t samples_left = 0; // then the pattern is tried again
    };

    RebindDecision assess_trial(const mapping::Graph& sent, double rate);
    RebindDecision assess_move(const mapping::Graph& sent, double rate);
    RebindDecision assess_return(const mapping::Graph& sent, double rate);
    RebindDecision evaluate(const mapping::Graph& sent, double rate);
    struct BetterPlacement {
        mapping::Assignment cores;
        uint32_t moves = 0; // ranks on another core than now; 0: nothing to be gained
        double saved = 0;   // communication cost
        double ratio = 0;   // of the present cost
    };
    [[nodiscard]] BetterPlacement find_better(const mapping::Graph& sent) const;
    RebindDecision move_to(BetterPlacement&& better);
    void begin_trial(Trial trial);
    void store_result(const mapping::Graph& sent, bool beneficial);
    [[nodiscard]] const TrialResult* find_result(const mapping::Graph& sent) const;
    [[nodiscard]] double present_cost(const mapping::Graph& sent) const;

    HostCores cores_; // cores of the job, without those of other jobs
    mapping::Targets targets_;
    mapping::Assignment current_,
        alternative_;            // the other side of a trial; empty: ranks are unbound
    mapping::Graph last_sample_; // previous sample
    mapping::Graph evaluated_;   // last pattern for which a move was evaluated
    double last_rate_ = 0, evaluated_rate_ = 0, rate_before_ = 0, rate_moved_ = 0;
    Trial trial_ = Trial::none;
    uint32_t trial_samples_ = 0;
    double trial_rate_sum_ = 0;
    std::vector<TrialResult> results_;
};

} // namespace zipmpi::launch
