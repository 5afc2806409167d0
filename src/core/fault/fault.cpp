// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Revocation of communicators and queries for failed members.
#include "core/fault/fault.hpp"
#include "core/api/fault.hpp"
#include "core/group/group.hpp"
#include "core/runtime_state.hpp"
#include "proto/p2p/progress_engine.hpp"

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
    update_comm_faults(comm);
}

// True if no other member is a rank of this job.
bool is_only_member_in_job(const Comm& comm) {
    return std::ranges::count_if(all_members(comm), [](int r) { return !wire::is_external(r); }) == 1;
}

// Revocations and failures in other jobs arrive over the network.
void poll_faults() {
    if (progress_engine().peers().external_ranks_enabled()) progress_engine().progress_all();
    progress_engine().faults().poll();
}

} // namespace

// The launcher notifies all members of this job, even if this process fails; each member notifies those of
// other jobs.
Err comm_revoke(Comm& comm) {
    const uint32_t key = proto::FaultTable::comm_key(comm.team.context);
    if (comm.cls == ObjectKind::revoked_comm) return Err::success;
    if (!is_only_member_in_job(comm) && !notify_revocation(key))
        return fail(Err::unsupported_operation, "start the program with ZipMPI's mpiexec",
                    "this launcher cannot notify the other ranks");
    progress_engine().faults().table().any = true;
    progress_engine().faults().table().comm_errors[key] = Err::revoked;
    update_comm_faults(comm);
    progress_engine().faults().poll();
    return Err::success;
}

Err comm_is_revoked(Comm& comm, bool& flag) {
    poll_faults();
    flag = comm.cls == ObjectKind::revoked_comm;
    return Err::success;
}

Err comm_get_failed(Comm& comm, Group*& group) {
    poll_faults();
    return group_of_failed(comm, comm.failed.size(), group);
}

Err comm_ack_failed(Comm& comm, int num_to_ack, int& num_acked) {
    poll_faults();
    const auto wanted = static_cast<size_t>(std::max(num_to_ack, 0));
    acknowledge(comm, std::min(wanted, comm.failed.size()));
    num_acked = static_cast<int>(comm.acknowledged);
    return Err::success;
}

Err comm_failure_ack(Comm& comm) {
    poll_faults();
    acknowledge(comm, comm.failed.size());
    return Err::success;
}

Err comm_failure_get_acked(Comm& comm, Group*& group) {
    return group_of_failed(comm, comm.acknowledged, group);
}

} // namespace zipmpi::core
