// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Delivers failures of ranks and revocations to communicators.
#include "core/comm/comm_util.hpp"
#include "core/fault/fault.hpp"
#include "core/fault/job_agreement.hpp"
#include "core/runtime_state.hpp"
#include "core/win/win.hpp"
#include "proto/p2p/progress_engine.hpp"

#include <algorithm>

namespace zipmpi::core {
namespace {

// Adds failed members of a team in the order of their failures, which is equal on all members.
void add_failed(const proto::Team& team, const segment::NodeSegment& segment, uint32_t from, uint32_t until,
                std::vector<int>& failed) {
    const Members members(team.map, team.size);
    for (uint32_t i = from; i < until; ++i)
        if (members.find(segment.faults().failed_rank(i)) >= 0)
            failed.push_back(segment.faults().failed_rank(i));
}

// The revoking process may fail before all are notified, so each process notifies those of other jobs.
void forward_revocation(const Comm& comm, uint32_t key) {
    for (const int rank : all_members(comm))
        if (wire::is_external(rank))
            progress_engine().control().notify_context(rank, wire::MessageKind::revoke, key);
}

void update(Comm& comm) {
    proto::FaultTable& faults = progress_engine().faults().table();
    const segment::NodeSegment& segment = runtime()->segment;
    add_failed(comm.team, segment, comm.failures_seen, faults.failed_seen, comm.failed);
    if (comm.local != nullptr)
        add_failed(*comm.local, segment, comm.failures_seen, faults.failed_seen, comm.failed);
    comm.failures_seen = faults.failed_seen;
    for (const int external : runtime()->failed_external) {
        const bool member = members_of(comm.team).find(external) >= 0 ||
                            (comm.local != nullptr && members_of(*comm.local).find(external) >= 0);
        if (member && std::ranges::count(comm.failed, external) == 0) comm.failed.push_back(external);
    }
    const uint32_t key = proto::FaultTable::comm_key(comm.team.context);
    if (!comm.failed.empty()) {
        faults.comm_errors.emplace(key, Err::proc_failed); // a revoked communicator stays revoked
        if (comm.local != nullptr)
            faults.comm_errors.emplace(proto::FaultTable::comm_key(comm.local->context), Err::proc_failed);
    }
    if (comm.failed.size() > comm.acknowledged)
        faults.unacknowledged.insert(key);
    else
        faults.unacknowledged.erase(key);
    const auto broken = faults.comm_errors.find(key);
    if (broken == faults.comm_errors.end() || broken->second != Err::revoked) return;
    if (comm.cls != ObjectKind::revoked_comm) {
        forward_revocation(comm, key);
        progress_engine().events().raise(proto::EventType::comm_revoked, key);
    }
    comm.cls = ObjectKind::revoked_comm; // calls on it take the slow path from now on
    if (comm.local != nullptr)
        faults.comm_errors[proto::FaultTable::comm_key(comm.local->context)] = Err::revoked;
}

void update_all() {
    for_each_comm([](Comm& comm) { update(comm); });
    for_each_win([](Win& win) {
        if (win.window != nullptr) win.window->fail_pending();
    });
}

// A rank that is unreachable for one must fail for all: the launcher ends it. Without fault tolerance a send
// to it returns an error, but a receive of a missing message would wait forever.
void report_peer_failure(int world_rank, proto::PeerFailure how) {
    const Runtime& e = *runtime();
    if (wire::is_external(world_rank))
        return mark_external_failed(world_rank); // external: its own launcher handles it
    if (e.segment.faults().state().fault_tolerant == 0) {
        if (how == proto::PeerFailure::connection_lost) end_after_lost_connection(world_rank);
    } else if (e.job.launcher != nullptr) {
        static_cast<void>(e.job.launcher->notify("what=lost rank=" + std::to_string(world_rank)));
    }
}

// Revocation by a process of another job. The other ranks of this job may not have received it.
void handle_revocation(uint32_t context) {
    proto::FaultTable& faults = progress_engine().faults().table();
    const uint32_t key = proto::FaultTable::comm_key(context);
    if (const auto found = faults.comm_errors.find(key);
        found != faults.comm_errors.end() && found->second == Err::revoked)
        return;
    static_cast<void>(notify_revocation(key));
    faults.any = true;
    faults.comm_errors[key] = Err::revoked;
    update_all();
    progress_engine().engine_lock().wake_waiters();
}

} // namespace

std::vector<int> all_members(const Comm& comm) {
    std::vector<int> ranks;
    for (const proto::Team* const team : {&comm.team, static_cast<const proto::Team*>(comm.local.get())})
        if (team != nullptr) add_members(*team, ranks);
    return ranks;
}

void add_members(const proto::Team& team, std::vector<int>& ranks) {
    for (int r = 0; r < team.size; ++r) ranks.push_back(team.map.world(r));
}

bool has_native_launcher() {
    const Runtime& e = *runtime();
    return e.job.protocol == boot::Protocol::mpiexec && e.job.launcher != nullptr;
}

bool notify_revocation(uint32_t key) {
    return has_native_launcher() &&
           runtime()->job.launcher->notify("what=revoke context=" + std::to_string(key));
}

void mark_external_failed(int world_rank) {
    Runtime& e = *runtime();
    if (std::ranges::count(e.failed_external, world_rank) != 0) return;
    e.failed_external.push_back(world_rank);
    progress_engine().network()->fail_peer(world_rank);
    progress_engine().faults().fail_external(world_rank);
    progress_engine().engine_lock().wake_waiters();
}

void enable_fault_notification(Runtime& e) {
    e.progress_engine->faults().table().on_fault = update_all;
    e.progress_engine->faults().table().on_agreements = JobAgreement::take_decisions;
    e.progress_engine->network_port().set_on_failure(report_peer_failure);
    e.progress_engine->dispatcher().set_on_revoke(handle_revocation);
}

void update_comm_faults(Comm& comm) {
    if (progress_engine().faults().any()) update(comm);
}

bool clear_comm_faults(const Comm& comm) {
    if (!progress_engine().faults().any()) return true;
    proto::FaultTable& faults = progress_engine().faults().table();
    const uint32_t key = proto::FaultTable::comm_key(comm.team.context);
    if (comm.cls == ObjectKind::revoked_comm) return false;
    faults.unacknowledged.erase(key);
    faults.comm_errors.erase(key);
    if (comm.local != nullptr) faults.comm_errors.erase(proto::FaultTable::comm_key(comm.local->context));
    return true;
}

} // namespace zipmpi::core
