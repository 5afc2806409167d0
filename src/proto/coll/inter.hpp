// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives between two groups, on bytes. Each side gets what the other one gives. `local` is the own
// group, `across` reaches the other one: its size is the other group's, its rank the own rank in the local
// group. What has to be reduced is reduced inside a group first; its rank 0 speaks to that of the other
// group.
#pragma once

#include "proto/coll/coll.hpp"

namespace zipmpi::proto::coll {

struct Inter {
    Team& local;
    Team& across;
};

// Who a process is in a collective with a root.
enum class Part { root, bystander, other_side }; // a bystander is in the root's group
struct InterRoot {
    Part part = Part::bystander;
    int rank = 0; // other_side: of the root, across
};

void barrier(Schedule& s, const Inter& i);
void broadcast(Schedule& s, const Inter& i, void* data, size_t bytes, const InterRoot& root);
void reduce(Schedule& s, const Inter& i, const void* mine, void* result, const InterRoot& root);
void allreduce(Schedule& s, const Inter& i, const void* mine, void* result);
// counts: of the own group; the vector is as long on both sides
void reduce_scatter(Schedule& s, const Inter& i, const void* mine, void* result,
                    std::span<const int64_t> counts);
void gatherv(Schedule& s, const Inter& i, Block mine, Blocks all, const InterRoot& root);
void scatterv(Schedule& s, const Inter& i, Blocks all, Block mine, const InterRoot& root);
void allgatherv(Schedule& s, const Inter& i, Block mine, Blocks all);
void alltoallv(Schedule& s, const Inter& i, Blocks send, Blocks recv);

} // namespace zipmpi::proto::coll
