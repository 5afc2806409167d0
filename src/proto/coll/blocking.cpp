// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Blocking collectives on a team, for internal use.
#include "proto/coll/coll.hpp"

namespace zipmpi::proto::coll {

Err barrier(Team& team) {
    Schedule s(team);
    barrier(s, team);
    return s.run();
}

Err broadcast(Team& team, void* data, size_t bytes, int root) {
    Schedule s(team);
    broadcast(s, team, data, bytes, root);
    return s.run();
}

Err reduce(Team& team, void* data, const ReduceOp& combine, int root) {
    Schedule s(team);
    s.set_op(combine);
    reduce(s, team, data, data, root);
    return s.run();
}

Err allreduce(Team& team, void* data, const ReduceOp& combine) {
    Schedule s(team);
    s.set_op(combine);
    allreduce(s, team, data, data);
    return s.run();
}

Err gather(Team& team, const void* input, void* all, size_t block, int root) {
    Schedule s(team);
    gather(s, team, input, all, block, root);
    return s.run();
}

Err scatter(Team& team, const void* all, void* output, size_t block, int root) {
    Schedule s(team);
    scatter(s, team, all, output, block, root);
    return s.run();
}

Err allgather(Team& team, void* all, size_t block) {
    Schedule s(team);
    allgather(s, team, static_cast<std::byte*>(all) + static_cast<size_t>(team.rank) * block, all, block);
    return s.run();
}

Err alltoall(Team& team, const void* send, void* recv, size_t block) {
    Schedule s(team);
    alltoall(s, team, send, recv, block);
    return s.run();
}

} // namespace zipmpi::proto::coll
