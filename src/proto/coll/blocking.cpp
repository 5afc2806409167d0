// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives on a team that are waited for at once: for the library's own use.
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

Err reduce(Team& team, void* data, const Combine& combine, int root) {
    Schedule s(team);
    s.use(combine);
    reduce(s, team, data, data, root);
    return s.run();
}

Err allreduce(Team& team, void* data, const Combine& combine) {
    Schedule s(team);
    s.use(combine);
    allreduce(s, team, data, data);
    return s.run();
}

Err gather(Team& team, const void* mine, void* all, size_t block, int root) {
    Schedule s(team);
    gather(s, team, mine, all, block, root);
    return s.run();
}

Err scatter(Team& team, const void* all, void* mine, size_t block, int root) {
    Schedule s(team);
    scatter(s, team, all, mine, block, root);
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
