// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/fault_relay.hpp"

#include "launch/noded/descendants.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>

namespace zipmpi::launch {
namespace {

uint32_t number_of(const PmiMessage& m, std::string_view name) {
    return static_cast<uint32_t>(std::strtoul(std::string(m.get(name)).c_str(), nullptr, 10));
}

} // namespace

void FaultRelay::on_notify(uint32_t local, const PmiMessage& m) {
    if (!job_.is_rank(local)) return; // gateways have nothing to report this way
    JobEvent e;
    e.context = number_of(m, "context");
    const std::string_view what = m.get("what");
    if (what == "revoke") {
        e.kind = JobEvent::Kind::revoked;
    } else if (what == "agree") {
        e.kind = JobEvent::Kind::agreement;
        e.ranks.add(ranks_[local].world_rank);
        e.number = number_of(m, "number");
        e.flags = number_of(m, "flags");
        e.value = number_of(m, "value");
        if (!RankRanges::parse(m.get("members"), e.members)) return;
        agreement_waiters_[{e.context, e.number}].push_back(local);
    } else if (what == "lost") {
        e.kind = JobEvent::Kind::unreachable;
        e.rank = number_of(m, "rank");
        e.value = ranks_[local].world_rank;
    } else if (what == "taken") {
        return publish_queued_agreements(local);
    } else {
        const auto pid = static_cast<pid_t>(number_of(m, "pid"));
        const std::vector<pid_t> own = descendants_of(ranks_[local].pid);
        if (what == "spawned" && std::ranges::count(own, pid) != 0) ranks_.add_spawned_job(pid);
        return;
    }
    gather_.process(e);
}

void FaultRelay::on_event(const JobEvent& e) {
    segment::NodeSegment& segment = job_.segment();
    if (!segment) return;
    switch (e.kind) {
    case JobEvent::Kind::failed:
        e.ranks.for_each([&](uint32_t rank) { segment.faults().publish_failed(static_cast<int>(rank)); });
        return segment.faults().notify();
    case JobEvent::Kind::revoked:
        segment.faults().publish_revoked(e.context);
        return segment.faults().notify();
    case JobEvent::Kind::agreement: {
        gather_.remove(e.context, e.number);
        const auto waiting = agreement_waiters_.find({e.context, e.number});
        if (waiting == agreement_waiters_.end()) return;
        for (const uint32_t local : waiting->second)
            publish_agreement(local, {e.context, e.number, e.flags, e.value, e.failed});
        agreement_waiters_.erase(waiting);
        return segment.faults().notify();
    }
    case JobEvent::Kind::unreachable: // a rank that some consider dead must be dead for all
        for (const RankProcess& r : ranks_)
            if (r.world_rank == e.rank && r.live) kill(r.pid, SIGKILL);
        return;
    }
}

// In the order of the agreements. A result without a free slot is queued until the rank has consumed some.
void FaultRelay::publish_agreement(uint32_t local, const segment::AgreementResult& decided) {
    std::deque<segment::AgreementResult>& kept = queued_agreements_[local];
    if (!kept.empty() || !job_.segment().agreements().publish(local, decided)) kept.push_back(decided);
}

void FaultRelay::publish_queued_agreements(uint32_t local) {
    std::deque<segment::AgreementResult>& kept = queued_agreements_[local];
    if (kept.empty()) return;
    while (!kept.empty() && job_.segment().agreements().publish(local, kept.front())) kept.pop_front();
    job_.segment().faults().notify();
}

void FaultRelay::report_failed(const Failure& failure) {
    JobEvent e;
    e.kind = JobEvent::Kind::failed;
    e.ranks.add(failure.rank);
    e.exit_code = failure.exit_code;
    e.by_signal = failure.by_signal;
    e.text = failure.text;
    gather_.process(e);
}

// All ranks of these nodes have failed or will soon: without a parent a daemon terminates its processes.
void FaultRelay::report_failed_nodes(NodeRange nodes, const Diagnostic& why) {
    JobEvent e;
    e.kind = JobEvent::Kind::failed;
    e.ranks = job_.request().map.ranks_of_nodes(nodes.node, nodes.end);
    e.exit_code = 1;
    e.by_signal = true;
    e.text = format(with_outcome(why, "its ranks count as failed"), "mpiexec");
    gather_.process(e);
}

} // namespace zipmpi::launch
