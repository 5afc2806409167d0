// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Blocking collectives on a team, for internal use.
#include "proto/coll/coll.hpp"

namespace zipmpi::proto::coll {

Err barrier(Team& team) {
    Collective c(team);
    barrier(c, team);
    return c.run();
}

Err broadcast(Team& team, void* data, size_t bytes, int root) {
    Collective c(team);
    broadcast(c, team, data, bytes, root);
    return c.run();
}

Err reduce(Team& team, void* data, const ReduceOp& combine, int root) {
    Collective c(team);
    c.schedule().set_op(combine);
    reduce(c, team, data, data, root);
    return c.run();
}

Err allreduce(Team& team, void* data, const ReduceOp& combine) {
    Collective c(team);
    c.schedule().set_op(combine);
    allreduce(c, team, data, data);
    return c.run();
}

Err gather(Team& team, const void* input, void* all, size_t block, int root) {
    Collective c(team);
    gather(c, team, input, all, block, root);
    return c.run();
}

Err scatter(Team& team, const void* all, void* output, size_t block, int root) {
    Collective c(team);
    scatter(c, team, all, output, block, root);
    return c.run();
}

Err allgather(Team& team, void* all, size_t block) {
    Collective c(team);
    allgather(c, team, static_cast<std::byte*>(all) + static_cast<size_t>(team.rank) * block, all, block);
    return c.run();
}

Err alltoall(Team& team, const void* send, void* recv, size_t block) {
    Collective c(team);
    alltoall(c, team, send, recv, block);
    return c.run();
}

} // namespace zipmpi::proto::coll
