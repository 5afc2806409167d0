// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/report/fault_sequencer.hpp"

namespace zipmpi::launch {

void FaultSequencer::process(const JobEvent& e) {
    switch (e.kind) {
    case JobEvent::Kind::failed:
        return fail(e.ranks);
    case JobEvent::Kind::revoked:
        return revoke(e.context);
    case JobEvent::Kind::agreement:
        return add_contribution(e);
    case JobEvent::Kind::unreachable:
        return exclude_unreachable(e.rank, e.value);
    }
}

void FaultSequencer::fail(const RankRanges& ranks) {
    RankRanges fresh = ranks;
    fresh.remove(agreements_.failed());
    if (fresh.empty() || !fresh.is_below(world_size_)) return;
    unannounced_.add(fresh);
    agreements_.fail(fresh);
}

void FaultSequencer::announce_failures() {
    if (unannounced_.empty()) return;
    JobEvent event;
    event.kind = JobEvent::Kind::failed;
    event.ranks = std::exchange(unannounced_, {});
    broadcast_(event);
}

void FaultSequencer::announce(const JobEvent& event) {
    announce_failures();
    broadcast_(event);
}

// Two ranks that cannot reach each other both report it: only one of them is terminated.
void FaultSequencer::exclude_unreachable(uint32_t rank, uint32_t by) {
    if (rank >= world_size_ || agreements_.failed().contains(rank) || agreements_.failed().contains(by) ||
        excluded_.count(by) != 0 || !excluded_.insert(rank).second)
        return;
    JobEvent event;
    event.kind = JobEvent::Kind::unreachable;
    event.rank = rank;
    announce(event);
}

void FaultSequencer::revoke(uint32_t context) {
    if (!revoked_.insert(context).second) return;
    JobEvent event;
    event.kind = JobEvent::Kind::revoked;
    event.context = context;
    announce(event);
}

void FaultSequencer::add_contribution(const JobEvent& e) {
    if (!e.members.empty() && e.members.is_below(world_size_)) agreements_.add_contribution(e);
}

void FaultSequencer::decide(const JobEvent& combined) {
    JobEvent event;
    event.kind = JobEvent::Kind::agreement;
    event.context = combined.context;
    event.number = combined.number;
    event.flags = combined.flags;
    event.value = combined.value;
    event.failed = failures();
    announce(event);
}

} // namespace zipmpi::launch
