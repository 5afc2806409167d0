// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// From ranks that are gone to communicators.
#include "core/comm/make.hpp"
#include "core/fault/fault.hpp"
#include "core/state.hpp"

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
    comm.cls = Class::revoked_comm; // calls on it take the slow path from now on
    if (comm.local != nullptr) faults.broken[proto::Faults::key_of(comm.local->context)] = Err::revoked;
}

void update_all() {
    for_each_comm([](Comm& comm) { update(comm); });
}

// Who is out of reach for one must be gone for all: the launcher ends it.
void report_lost(int world_rank) {
    Engine& e = *engine();
    if (wire::is_foreign(world_rank)) { // of another job: its own launcher knows
        e.lost_foreign.push_back(world_rank);
        return lane().lose_foreign(world_rank);
    }
    if (e.segment.news().keeps_going != 0 && e.job.launcher != nullptr)
        static_cast<void>(e.job.launcher->tell("what=lost rank=" + std::to_string(world_rank)));
}

} // namespace

void listen_for_faults(Engine& e) {
    e.lane->faults().on_news = update_all;
    e.lane->set_on_lost(report_lost);
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
