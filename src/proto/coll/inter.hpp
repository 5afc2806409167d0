// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives between the two groups of an intercommunicator, on bytes. Each group receives the data of the
// other one. `local` is the group of this process; `remote` addresses the other group: its size is that of
// the other group, its rank the rank of this process in the local group. Reductions run within a group
// first; then the ranks 0 of both groups exchange the results.
#pragma once

#include "proto/coll/coll.hpp"

namespace zipmpi::proto::coll {

struct InterTeams {
    Team& local;
    Team& remote;
};

// Role of this process in a rooted collective.
enum class RootRole { root, bystander, remote }; // bystander: in the group of the root
struct InterRoot {
    RootRole role = RootRole::bystander;
    int rank = 0; // of the root in the remote group, if role is remote
};

void barrier(Schedule& s, const InterTeams& i);
void broadcast(Schedule& s, const InterTeams& i, void* data, size_t bytes, const InterRoot& root);
void reduce(Schedule& s, const InterTeams& i, const void* input, void* result, const InterRoot& root);
void allreduce(Schedule& s, const InterTeams& i, const void* input, void* result);
// counts: of the local group; the vector has equal length in both groups
void reduce_scatter(Schedule& s, const InterTeams& i, const void* input, void* result,
                    std::span<const int64_t> counts);
void gatherv(Schedule& s, const InterTeams& i, Block input, Blocks all, const InterRoot& root);
void scatterv(Schedule& s, const InterTeams& i, Blocks all, Block output, const InterRoot& root);
void allgatherv(Schedule& s, const InterTeams& i, Block input, Blocks all);
void alltoallv(Schedule& s, const InterTeams& i, Blocks send, Blocks recv);

} // namespace zipmpi::proto::coll
