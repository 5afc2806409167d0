// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// From ranks that are gone to communicators.
#include "core/comm/make.hpp"
#include "core/fault/agreement.hpp"
#include "core/fault/fault.hpp"
#include "core/state.hpp"
#include "proto/p2p/lane.hpp"

#include <algorithm>

namespace zipmpi::core {
namespace {

// Members of a team that have failed, in the order of their failures: the same on all members.
void add_failed(const proto::Team& team, const boot::NodeSegment& segment, uint32_t from, uint32_t until,
                std::vector<int>& failed) {
    const Members members(team.map, team.size);
    for (uint32_t i = from; i < until; ++i)
        if (members.find(segment.failed_rank(i)) >= 0) failed.push_back(segment.failed_rank(i));
}

// Whoever revokes a communicator may die before all have heard of it: each process tells those of other jobs.
void pass_on_revocation(const Comm& comm, uint32_t key) {
    for (const int rank : all_members(comm))
        if (wire::is_foreign(rank)) lane().tell_of_context(rank, wire::Kind::revoke, key);
}

void update(Comm& comm) {
    proto::Faults& faults = lane().faults();
    const boot::NodeSegment& segment = engine()->segment;
    add_failed(comm.team, segment, comm.failures_seen, faults.failed, comm.failed);
    if (comm.local != nullptr)
        add_failed(*comm.local, segment, comm.failures_seen, faults.failed, comm.failed);
    comm.failures_seen = faults.failed;
    for (const int lost : engine()->lost_foreign) {
        const bool member = members_of(comm.team).find(lost) >= 0 ||
                            (comm.local != nullptr && members_of(*comm.local).find(lost) >= 0);
        if (member && std::ranges::count(comm.failed, lost) == 0) comm.failed.push_back(lost);
    }
    const uint32_t key = proto::Faults::key_of(comm.team.context);
    if (!comm.failed.empty()) {
        faults.broken.emplace(key, Err::proc_failed); // a revoked one stays that
        if (comm.local != nullptr)
            faults.broken.emplace(proto::Faults::key_of(comm.local->context), Err::proc_failed);
    }
    if (comm.failed.size() > comm.acknowledged)
        faults.unacknowledged.insert(key);
    else
        faults.unacknowledged.erase(key);
    const auto broken = faults.broken.find(key);
    if (broken == faults.broken.end() || broken->second != Err::revoked) return;
    if (comm.cls != Class::revoked_comm) pass_on_revocation(comm, key);
    comm.cls = Class::revoked_comm; // calls on it take the slow path from now on
    if (comm.local != nullptr) faults.broken[proto::Faults::key_of(comm.local->context)] = Err::revoked;
}

void update_all() {
    for_each_comm([](Comm& comm) { update(comm); });
}

// Who is out of reach for one must be gone for all: the launcher ends it.
void report_lost(int world_rank) {
    const Engine& e = *engine();
    if (wire::is_foreign(world_rank))
        return lose_foreign(world_rank); // of another job: its own launcher knows
    if (e.segment.news().keeps_going != 0 && e.job.launcher != nullptr)
        static_cast<void>(e.job.launcher->tell("what=lost rank=" + std::to_string(world_rank)));
}

// By a process of another job. The other ranks of this one may not have heard it.
void heed_revocation(uint32_t context) {
    proto::Faults& faults = lane().faults();
    const uint32_t key = proto::Faults::key_of(context);
    if (const auto known = faults.broken.find(key);
        known != faults.broken.end() && known->second == Err::revoked)
        return;
    static_cast<void>(tell_of_revocation(key));
    faults.any = true;
    faults.broken[key] = Err::revoked;
    update_all();
    lane().wake_threads();
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

bool launcher_helps() {
    const Engine& e = *engine();
    return e.job.protocol == boot::Protocol::mpiexec && e.job.launcher != nullptr;
}

bool tell_of_revocation(uint32_t key) {
    return launcher_helps() && engine()->job.launcher->tell("what=revoke context=" + std::to_string(key));
}

void lose_foreign(int world_rank) {
    Engine& e = *engine();
    if (std::ranges::count(e.lost_foreign, world_rank) != 0) return;
    e.lost_foreign.push_back(world_rank);
    lane().network()->give_up(world_rank);
    lane().lose_foreign(world_rank);
    lane().wake_threads();
}

void listen_for_faults(Engine& e) {
    e.lane->faults().on_news = update_all;
    e.lane->faults().on_decisions = Agreement::take_decisions;
    e.lane->set_on_lost(report_lost);
    e.lane->set_on_revoke(heed_revocation);
}

void look_for_faults(Comm& comm) {
    if (lane().faulty()) update(comm);
}

bool forget_faults(const Comm& comm) {
    if (!lane().faulty()) return true;
    proto::Faults& faults = lane().faults();
    const uint32_t key = proto::Faults::key_of(comm.team.context);
    if (comm.cls == Class::revoked_comm) return false;
    faults.unacknowledged.erase(key);
    faults.broken.erase(key);
    if (comm.local != nullptr) faults.broken.erase(proto::Faults::key_of(comm.local->context));
    return true;
}

} // namespace zipmpi::core
