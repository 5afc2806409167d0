// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// MPIX_Remap: the daemon of each node rebinds its ranks by the messages that they have exchanged.
#include "core/api/topology.hpp"
#include "core/comm/comm.hpp"
#include "core/comm/comm_util.hpp"
#include "core/fault/fault.hpp"
#include "core/runtime_state.hpp"
#include "proto/coll/coll.hpp"
#include "proto/p2p/progress_engine.hpp"

namespace zipmpi::core {

// The messages of all members are counted before the barrier ends. One member per node asks its daemon.
Err comm_remap(Comm& comm) {
    if (comm.inter()) return intracomm_required(comm);
    if (!has_native_launcher())
        return fail(Err::unsupported_operation, "start the program with ZipMPI's mpiexec",
                    "this launcher cannot rebind ranks");
    if (const Err e = proto::coll::barrier(comm.team); e != Err::success) return e;
    const proto::Team& team = comm.team;
    int first = 0;
    while (!progress_engine().peers().on_this_node(team.map.world(first))) ++first;
    if (first != team.rank || runtime()->job.launcher->notify("what=remap")) return Err::success;
    return fail(Err::other, "see the messages of mpiexec",
                "the connection to the daemon of this node is lost");
}

} // namespace zipmpi::core
