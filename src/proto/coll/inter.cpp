// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Straight between the two groups where every byte is wanted there as it is: q * (a + n b) with q ranks on
// the other side. Reductions: the cost of the local reduction, one message, and the local distribution.
#include "proto/coll/inter.hpp"

#include "proto/coll/algorithms.hpp"

namespace zipmpi::proto::coll {
namespace {

bool leads(const Inter& i) { return i.local.rank == 0; }

void exchange_as_leader(Schedule& s, const Inter& i, const void* out, void* in, size_t bytes) {
    if (leads(i)) {
        s.recv(i.across, in, bytes, 0);
        s.send(i.across, out, bytes, 0);
    }
    s.wait();
}

} // namespace

void barrier(Schedule& s, const Inter& i) {
    barrier_dissemination::build(s, i.local);
    exchange_as_leader(s, i, nullptr, nullptr, 0);
    barrier_dissemination::build(s, i.local); // nobody leaves before rank 0 has heard of the other side
}

void broadcast(Schedule& s, const Inter& i, void* data, size_t bytes, const InterRoot& root) {
    if (root.part == Part::other_side) {
        s.recv(i.across, data, bytes, root.rank);
    } else if (root.part == Part::root) {
        for (int r = 0; r < i.across.size; ++r) s.send(i.across, data, bytes, r);
    }
}

void reduce(Schedule& s, const Inter& i, const void* mine, void* result, const InterRoot& root) {
    const size_t bytes = s.operation().bytes();
    if (root.part == Part::root) {
        s.recv(i.across, result, bytes, 0);
    } else if (root.part == Part::other_side) {
        std::byte* sum = leads(i) ? s.scratch(bytes) : nullptr;
        reduce_by_messages(s, i.local, mine, sum, 0);
        if (leads(i)) s.send(i.across, sum, bytes, root.rank);
    }
}

void allreduce(Schedule& s, const Inter& i, const void* mine, void* result) {
    const size_t bytes = s.operation().bytes();
    std::byte* sum = leads(i) ? s.scratch(bytes) : nullptr;
    reduce_by_messages(s, i.local, mine, sum, 0);
    exchange_as_leader(s, i, sum, result, bytes);
    broadcast_binomial::build(s, i.local, result, bytes, 0);
}

void reduce_scatter(Schedule& s, const Inter& i, const void* mine, void* result,
                    std::span<const int64_t> counts) {
    const size_t bytes = s.operation().bytes();
    const size_t element = s.operation().element_bytes;
    std::byte* sum = leads(i) ? s.scratch(bytes) : nullptr;
    std::byte* theirs = leads(i) ? s.scratch(bytes) : nullptr;
    reduce_by_messages(s, i.local, mine, sum, 0);
    exchange_as_leader(s, i, sum, theirs, bytes);
    size_t offset = 0;
    for (int r = 0; r < i.local.size && leads(i); ++r) {
        const size_t part = static_cast<size_t>(counts[static_cast<size_t>(r)]) * element;
        r == 0 ? s.copy(result, theirs, part) : s.send(i.local, theirs + offset, part, r);
        offset += part;
    }
    const size_t own = static_cast<size_t>(counts[static_cast<size_t>(i.local.rank)]) * element;
    if (!leads(i)) s.recv(i.local, result, own, 0);
}

void gatherv(Schedule& s, const Inter& i, Block mine, Blocks all, const InterRoot& root) {
    if (root.part == Part::other_side) {
        s.send(i.across, mine.data, mine.bytes, root.rank);
    } else if (root.part == Part::root) {
        for (int r = 0; r < i.across.size; ++r)
            s.recv(i.across, all[static_cast<size_t>(r)].data, all[static_cast<size_t>(r)].bytes, r);
    }
}

void scatterv(Schedule& s, const Inter& i, Blocks all, Block mine, const InterRoot& root) {
    if (root.part == Part::other_side) {
        s.recv(i.across, mine.data, mine.bytes, root.rank);
    } else if (root.part == Part::root) {
        for (int r = 0; r < i.across.size; ++r)
            s.send(i.across, all[static_cast<size_t>(r)].data, all[static_cast<size_t>(r)].bytes, r);
    }
}

void allgatherv(Schedule& s, const Inter& i, Block mine, Blocks all) {
    for (int r = 0; r < i.across.size; ++r) {
        s.recv(i.across, all[static_cast<size_t>(r)].data, all[static_cast<size_t>(r)].bytes, r);
        s.send(i.across, mine.data, mine.bytes, r);
    }
}

void alltoallv(Schedule& s, const Inter& i, Blocks send, Blocks recv) {
    for (int r = 0; r < i.across.size; ++r) {
        const Block& in = recv[static_cast<size_t>(r)];
        const Block& out = send[static_cast<size_t>(r)];
        if (in.bytes != 0) s.recv(i.across, in.data, in.bytes, r);
        if (out.bytes != 0) s.send(i.across, out.data, out.bytes, r);
    }
}

} // namespace zipmpi::proto::coll
