// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Sequences the events that all ranks of a job must see alike: failed ranks, revoked communicators and
// agreements. mpiexec is the single point that orders them. An agreement completes when every member has
// contributed or failed; because failures are ordered as well, all members see one set of failed ranks with a
// result. Failures that are processed together are announced in one event. Pure: events in, events out.
#pragma once

#include "launch/protocol/messages.hpp"

#include <functional>
#include <map>
#include <set>
#include <utility>

namespace zipmpi::launch {

class FaultSequencer {
  public:
    using Broadcast = std::function<void(const JobEvent& event)>; // to all daemons
    FaultSequencer(uint32_t world_size, Broadcast broadcast)
        : world_size_(world_size)
        , broadcast_(std::move(broadcast)) {}

    void process(const JobEvent& e);
    void announce_failures(); // after events that were received together
    [[nodiscard]] uint32_t failures() const { return failed_.size(); }

  private:
    struct Agreement {
        RankRanges missing; // members that have neither contributed nor failed
        uint32_t flags = ~0U;
        uint32_t value = 0;
    };
    using Key = std::pair<uint32_t, uint32_t>; // context, number

    void fail(const RankRanges& ranks);
    void revoke(uint32_t context);
    void exclude_unreachable(uint32_t rank, uint32_t by);
    void add_contribution(const JobEvent& e);
    void decide_if_complete(std::map<Key, Agreement>::iterator a);
    void announce(const JobEvent& event); // after the failures that happened before

    uint32_t world_size_;
    Broadcast broadcast_;
    RankRanges failed_, unannounced_;
    std::set<uint32_t> revoked_, excluded_;
    std::map<Key, Agreement> agreements_;
};

} // namespace zipmpi::launch
