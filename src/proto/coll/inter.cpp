// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives between two groups. Data movement uses direct messages between the groups: q (a + n b) with q
// ranks in the remote group. Reductions cost the local reduction, one message and the local distribution.
#include "proto/coll/inter.hpp"

#include "proto/coll/algorithms.hpp"

namespace zipmpi::proto::coll {
namespace {

bool is_leader(const InterTeams& i) { return i.local.rank == 0; }

void exchange_between_leaders(Schedule& s, const InterTeams& i, const void* out, void* in, size_t bytes) {
    if (is_leader(i)) {
        s.recv(i.remote, in, bytes, 0);
        s.send(i.remote, out, bytes, 0);
    }
    s.wait();
}

} // namespace

void barrier(Schedule& s, const InterTeams& i) {
    barrier_dissemination::build(s, i.local);
    exchange_between_leaders(s, i, nullptr, nullptr, 0);
    barrier_dissemination::build(s,
                                 i.local); // no rank leaves before rank 0 has received from the remote group
}

void broadcast(Schedule& s, const InterTeams& i, void* data, size_t bytes, const InterRoot& root) {
    if (root.role == RootRole::remote) {
        s.recv(i.remote, data, bytes, root.rank);
    } else if (root.role == RootRole::root) {
        for (int r = 0; r < i.remote.size; ++r) s.send(i.remote, data, bytes, r);
    }
}

void reduce(Schedule& s, const InterTeams& i, const void* input, void* result, const InterRoot& root) {
    const size_t bytes = s.op().bytes();
    if (root.role == RootRole::root) {
        s.recv(i.remote, result, bytes, 0);
    } else if (root.role == RootRole::remote) {
        std::byte* sum = is_leader(i) ? s.scratch(bytes) : nullptr;
        reduce_by_messages(s, i.local, input, sum, 0);
        if (is_leader(i)) s.send(i.remote, sum, bytes, root.rank);
    }
}

void allreduce(Schedule& s, const InterTeams& i, const void* input, void* result) {
    const size_t bytes = s.op().bytes();
    std::byte* sum = is_leader(i) ? s.scratch(bytes) : nullptr;
    reduce_by_messages(s, i.local, input, sum, 0);
    exchange_between_leaders(s, i, sum, result, bytes);
    broadcast_binomial::build(s, i.local, result, bytes, 0);
}

void reduce_scatter(Schedule& s, const InterTeams& i, const void* input, void* result,
                    std::span<const int64_t> counts) {
    const size_t bytes = s.op().bytes();
    const size_t element = s.op().element_bytes;
    std::byte* sum = is_leader(i) ? s.scratch(bytes) : nullptr;
    std::byte* remote_sum = is_leader(i) ? s.scratch(bytes) : nullptr;
    reduce_by_messages(s, i.local, input, sum, 0);
    exchange_between_leaders(s, i, sum, remote_sum, bytes);
    size_t offset = 0;
    for (int r = 0; r < i.local.size && is_leader(i); ++r) {
        const size_t block_bytes = static_cast<size_t>(counts[static_cast<size_t>(r)]) * element;
        r == 0 ? s.copy(result, remote_sum, block_bytes)
               : s.send(i.local, remote_sum + offset, block_bytes, r);
        offset += block_bytes;
    }
    const size_t own_bytes = static_cast<size_t>(counts[static_cast<size_t>(i.local.rank)]) * element;
    if (!is_leader(i)) s.recv(i.local, result, own_bytes, 0);
}

void gatherv(Schedule& s, const InterTeams& i, Block input, Blocks all, const InterRoot& root) {
    if (root.role == RootRole::remote) {
        s.send(i.remote, input.data, input.bytes, root.rank);
    } else if (root.role == RootRole::root) {
        for (int r = 0; r < i.remote.size; ++r)
            s.recv(i.remote, all[static_cast<size_t>(r)].data, all[static_cast<size_t>(r)].bytes, r);
    }
}

void scatterv(Schedule& s, const InterTeams& i, Blocks all, Block output, const InterRoot& root) {
    if (root.role == RootRole::remote) {
        s.recv(i.remote, output.data, output.bytes, root.rank);
    } else if (root.role == RootRole::root) {
        for (int r = 0; r < i.remote.size; ++r)
            s.send(i.remote, all[static_cast<size_t>(r)].data, all[static_cast<size_t>(r)].bytes, r);
    }
}

void allgatherv(Schedule& s, const InterTeams& i, Block input, Blocks all) {
    for (int r = 0; r < i.remote.size; ++r) {
        s.recv(i.remote, all[static_cast<size_t>(r)].data, all[static_cast<size_t>(r)].bytes, r);
        s.send(i.remote, input.data, input.bytes, r);
    }
}

void alltoallv(Schedule& s, const InterTeams& i, Blocks send, Blocks recv) {
    for (int r = 0; r < i.remote.size; ++r) {
        const Block& in = recv[static_cast<size_t>(r)];
        const Block& out = send[static_cast<size_t>(r)];
        if (in.bytes != 0) s.recv(i.remote, in.data, in.bytes, r);
        if (out.bytes != 0) s.send(i.remote, out.data, out.bytes, r);
    }
}

} // namespace zipmpi::proto::coll
