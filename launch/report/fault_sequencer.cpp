// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/report/fault_sequencer.hpp"

#include <algorithm>

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
    fresh.remove(failed_);
    if (fresh.empty() || !fresh.is_below(world_size_)) return;
    failed_.add(fresh);
    unannounced_.add(fresh);
    for (auto a = agreements_.begin(); a != agreements_.end();) {
        const auto next = std::next(a);
        a->second.missing.remove(fresh);
        decide_if_complete(a);
        a = next;
    }
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
    if (rank >= world_size_ || failed_.contains(rank) || failed_.contains(by) || excluded_.count(by) != 0 ||
        !excluded_.insert(rank).second)
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
    if (e.members.empty() || !e.members.is_below(world_size_)) return;
    const auto [a, added] = agreements_.try_emplace({e.context, e.number});
    Agreement& agreement = a->second;
    if (added) {
        agreement.missing = e.members;
        agreement.missing.remove(failed_);
    }
    agreement.missing.remove(e.ranks);
    agreement.flags &= e.flags;
    agreement.value = std::max(agreement.value, e.value);
    decide_if_complete(a);
}

void FaultSequencer::decide_if_complete(std::map<Key, Agreement>::iterator a) {
    if (!a->second.missing.empty()) return;
    JobEvent event;
    event.kind = JobEvent::Kind::agreement;
    event.context = a->first.first;
    event.number = a->first.second;
    event.flags = a->second.flags;
    event.value = a->second.value;
    event.failed = failures();
    agreements_.erase(a);
    announce(event);
}

} // namespace zipmpi::launch
