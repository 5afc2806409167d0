// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Revoking communicators, and asking for failed members.
#include "core/fault/fault.hpp"
#include "core/group/group.hpp"
#include "core/state.hpp"
#include "proto/p2p/lane.hpp"

#include <algorithm>

namespace zipmpi::core {
namespace {

Err group_of_failed(const Comm& comm, size_t first_ones, Group*& group) {
    const std::vector<int> ranks(comm.failed.begin(),
                                 comm.failed.begin() + static_cast<ptrdiff_t>(first_ones));
    return make_group(Members(ranks), comm.session, group);
}

void acknowledge(Comm& comm, size_t failures) {
    comm.acknowledged = std::max(comm.acknowledged, static_cast<uint32_t>(failures));
    look_for_faults(comm);
}

// No other member is a rank of this job.
bool alone_in_its_job(const Comm& comm) {
    return std::ranges::count_if(all_members(comm), [](int r) { return !wire::is_foreign(r); }) == 1;
}

// Revocations and deaths in other jobs come over the network.
void look_everywhere() {
    if (lane().expects_foreign()) lane().progress_all();
    lane().look_for_news();
}

} // namespace

// The launcher tells all members of this job, whoever dies meanwhile; each of them tells those of other jobs.
Err comm_revoke(Comm& comm) {
    const uint32_t key = proto::Faults::key_of(comm.team.context);
    if (comm.cls == Class::revoked_comm) return Err::success;
    if (!alone_in_its_job(comm) && !tell_of_revocation(key))
        return fail(Err::unsupported_operation, "start the program with ZipMPI's mpiexec",
                    "this launcher cannot tell the other ranks");
    lane().faults().any = true;
    lane().faults().broken[key] = Err::revoked;
    look_for_faults(comm);
    lane().look_for_news();
    return Err::success;
}

Err comm_is_revoked(Comm& comm, bool& flag) {
    look_everywhere();
    flag = comm.cls == Class::revoked_comm;
    return Err::success;
}

Err comm_get_failed(Comm& comm, Group*& group) {
    look_everywhere();
    return group_of_failed(comm, comm.failed.size(), group);
}

Err comm_ack_failed(Comm& comm, int num_to_ack, int& num_acked) {
    look_everywhere();
    const auto wanted = static_cast<size_t>(std::max(num_to_ack, 0));
    acknowledge(comm, std::min(wanted, comm.failed.size()));
    num_acked = static_cast<int>(comm.acknowledged);
    return Err::success;
}

Err comm_failure_ack(Comm& comm) {
    look_everywhere();
    acknowledge(comm, comm.failed.size());
    return Err::success;
}

Err comm_failure_get_acked(Comm& comm, Group*& group) {
    return group_of_failed(comm, comm.acknowledged, group);
}

} // namespace zipmpi::core
