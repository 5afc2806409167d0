// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Sequences the events that all ranks of a job must see alike: failed ranks, revoked communicators and
// agreements. mpiexec is the single point that orders them. An agreement completes when every member has
// contributed or failed; because failures are ordered as well, all members see one set of failed ranks with a
// result. Failures that are processed together are announced in one event. Pure: events in, events out.
#pragma once

#include "launch/report/agreement_gather.hpp"

#include <functional>
#include <set>
#include <utility>

namespace zipmpi::launch {

class FaultSequencer {
  public:
    using Broadcast = std::function<void(const JobEvent& event)>; // to all daemons
    FaultSequencer(uint32_t world_size, Broadcast broadcast)
        : world_size_(world_size)
        , broadcast_(std::move(broadcast))
        , agreements_([world_size] { return RankRanges(0, world_size - 1); },
                      [this](const JobEvent& combined) { decide(combined); }) {}
    FaultSequencer(const FaultSequencer&) = delete;
    FaultSequencer& operator=(const FaultSequencer&) = delete;

    void process(const JobEvent& e);
    void announce_failures(); // after events that were received together
    [[nodiscard]] uint32_t failures() const { return agreements_.failed().size(); }

  private:
    void fail(const RankRanges& ranks);
    void revoke(uint32_t context);
    void exclude_unreachable(uint32_t rank, uint32_t by);
    void add_contribution(const JobEvent& e);
    void decide(const JobEvent& combined); // the contributions of all members that have not failed
    void announce(const JobEvent& event);  // after the failures that happened before

    uint32_t world_size_;
    Broadcast broadcast_;
    RankRanges unannounced_;
    std::set<uint32_t> revoked_, excluded_;
    AgreementGather agreements_;
};

} // namespace zipmpi::launch
