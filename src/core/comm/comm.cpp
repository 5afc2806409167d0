// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/comm/comm.hpp"

#include "base/recorder.hpp"
#include "core/api.hpp"
#include "core/send_buffer.hpp"
#include "core/state.hpp"
#include "proto/coll/coll.hpp"

#include <algorithm>

namespace zipmpi::core {
namespace {

Slab<Comm>& slab() {
    static Slab<Comm> s;
    return s;
}

// A context that no other communicator on this node has: the first rank draws it from a counter in the node
// segment and tells the others. An agreement of the members among themselves would let two threads that make
// communicators at the same time, in different order on different ranks, end up with the same one.
Err draw_context(Comm& comm, uint32_t& context) {
    constexpr uint32_t limit = proto::partitioned_context - 2 * first_free_context;
    uint32_t drawn = 0;
    if (comm.team.rank == 0) {
        auto& counter = const_cast<wire::SegmentHeader&>(engine()->segment.header()).contexts_drawn;
        drawn = counter.load(std::memory_order_relaxed);
        while (drawn < limit && !counter.compare_exchange_weak(drawn, drawn + 2, std::memory_order_relaxed)) {
        }
    }
    if (const Err e = proto::coll::broadcast(comm.team, &drawn, sizeof drawn, 0); e != Err::success) return e;
    if (drawn >= limit)
        return fail(Err::other, "make fewer communicators, or keep and reuse those that are needed again",
                    "all 2^30 context ids of this job are used up");
    context = first_free_context + drawn;
    return Err::success;
}

} // namespace

Comm* make_comm(const proto::Team& team, std::string name, Errhandler& handler) {
    Comm* comm = slab().make();
    if (comm == nullptr) return nullptr;
    comm->refs.store(1, std::memory_order_relaxed);
    comm->team = team;
    comm->peers = team.size;
    comm->context = team.context;
    comm->name = std::move(name);
    comm->errhandler = share(handler);
    if (!comm->name.empty()) record_comm_name(recorder(), team.context, comm->name.c_str());
    return comm;
}

void release(Comm& comm) {
    if (!let_go(comm)) return;
    record_comm_gone(recorder(), comm.team.context);
    release(comm.errhandler);
    slab().destroy(comm);
}

Comm* comm_by_index(uint32_t index) { return slab().find(index); }

bool is_inter(const Comm&) noexcept { return false; }
std::string name_of(const Comm& comm) { return comm.name.empty() ? "an unnamed communicator" : comm.name; }

Err comm_size(Comm& comm, int& size) {
    size = comm.team.size;
    return Err::success;
}

Err comm_rank(Comm& comm, int& rank) {
    rank = comm.team.rank;
    return Err::success;
}

Err comm_compare(Comm& a, Comm& b, Comparison& result) {
    if (&a == &b) {
        result = Comparison::ident;
        return Err::success;
    }
    std::vector<int> ranks_a;
    std::vector<int> ranks_b;
    ranks_a.reserve(static_cast<size_t>(a.team.size));
    ranks_b.reserve(static_cast<size_t>(b.team.size));
    for (int r = 0; r < a.team.size; ++r) ranks_a.push_back(a.team.map.world(r));
    for (int r = 0; r < b.team.size; ++r) ranks_b.push_back(b.team.map.world(r));
    if (ranks_a == ranks_b) {
        result = Comparison::congruent;
        return Err::success;
    }
    std::sort(ranks_a.begin(), ranks_a.end());
    std::sort(ranks_b.begin(), ranks_b.end());
    result = ranks_a == ranks_b ? Comparison::similar : Comparison::unequal;
    return Err::success;
}

Err comm_dup(Comm& comm, Comm*& copy) {
    proto::Team team = comm.team;
    team.collectives = 0;
    if (const Err e = draw_context(comm, team.context); e != Err::success) return e;
    copy = make_comm(team, "", *comm.errhandler);
    return copy != nullptr ? Err::success
                           : fail(Err::no_mem, "free memory", "no memory for another communicator");
}

Err comm_free(Comm*& comm) {
    if (comm->permanent)
        return fail(Err::comm, "free only communicators that the program has made", "%s cannot be freed",
                    comm->name.c_str());
    release(*comm);
    comm = nullptr;
    return Err::success;
}

Err comm_get_name(Comm& comm, std::string& name) {
    name = comm.name;
    return Err::success;
}

Err comm_set_name(Comm& comm, const char* name) {
    comm.name = name;
    record_comm_name(recorder(), comm.team.context, name);
    return Err::success;
}

Err comm_test_inter(Comm& comm, bool& flag) {
    flag = is_inter(comm);
    return Err::success;
}

} // namespace zipmpi::core
