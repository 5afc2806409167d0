// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/remote_operation.hpp"

#include "wire/external_rank.hpp"

namespace zipmpi::proto {

Err unreachable_error(const Operation& op) {
    if (wire::is_external(op.world_peer))
        return fail(Err::proc_failed, "see the output of that program and of its mpiexec for the cause",
                    "rank %d of the communicator, a process of another job, cannot be reached", op.peer);
    return fail(Err::proc_failed, "see the output of that rank and of the launcher for the cause",
                "rank %d of MPI_COMM_WORLD, on another host, cannot be reached", op.world_peer);
}

} // namespace zipmpi::proto
