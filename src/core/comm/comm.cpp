// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Communicators as objects: their life, and what can be asked of them.
#include "core/comm/comm.hpp"

#include "base/recorder.hpp"
#include "core/comm/make.hpp"
#include "core/fault/fault.hpp"
#include "core/group/group.hpp"
#include "core/info/at_launch.hpp"
#include "core/request/request.hpp"
#include "core/state.hpp"
#include "core/worlds/worlds.hpp"
#include "proto/coll/coll.hpp"
#include "proto/p2p/lane.hpp"
#include "proto/progress/wait.hpp"

namespace zipmpi::core {
namespace {

Slab<Comm>& slab() {
    static auto* const s = new Slab<Comm>; // never destroyed: see slab.hpp
    return *s;
}

Comparison compare_groups(const Comm& a, const Comm& b) {
    const Comparison own = compare(own_members(a), own_members(b));
    if (!a.inter()) return own;
    const Comparison remote = compare(members_of(a.team), members_of(b.team));
    return own > remote ? own : remote;
}

} // namespace

Hints understood(const Hints& hints) {
    Hints kept;
    for (const char* const key : {"mpi_assert_no_any_tag", "mpi_assert_no_any_source",
                                  "mpi_assert_exact_length", "mpi_assert_allow_overtaking"})
        if (const std::string* const value = hints.find(key); value != nullptr) kept.set(key, *value);
    return kept;
}

Err no_comm() { return fail(Err::no_mem, "free memory", "no memory for another communicator"); }

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
    hold_foreign(team);
    look_for_faults(*comm);
    return comm;
}

Comm* make_intercomm(const proto::Team& across, const proto::Team& local, Errhandler& handler) {
    Comm* const comm = make_comm(across, "", handler);
    if (comm == nullptr) return nullptr;
    comm->local = std::make_unique<proto::Team>(local);
    hold_foreign(local);
    comm->failures_seen = 0; // those of the local group count as well
    comm->failed.clear();
    look_for_faults(*comm);
    return comm;
}

void release(Comm& comm) {
    if (!let_go(comm)) return;
    record_comm_gone(recorder(), comm.team.context);
    lane().drop_messages(comm.team.context);
    if (forget_faults(comm)) {
        give_back_context(comm.team.context);
        if (comm.local != nullptr) give_back_context(comm.local->context);
    }
    release(comm.errhandler);
    if (comm.disconnected) {
        let_go_foreign(comm.team);
        if (comm.local != nullptr) let_go_foreign(*comm.local);
    }
    slab().destroy(comm);
}

void for_each_comm(void (*visit)(Comm& comm)) { slab().for_each(visit); }

Comm* comm_by_index(uint32_t index) { return slab().find(index); }

proto::Team make_team(const Members& members, int rank, uint32_t context) {
    return {engine()->lane.get(), context, rank, members.size(), members.map(), 0};
}

Members members_of(const proto::Team& team) { return {team.map, team.size}; }

InterContexts draw_inter_contexts(int own_leader, int other_leader, int own_size, int other_size) {
    InterContexts drawn;
    drawn.local = draw_context(own_size);
    if (goes_before(own_leader, other_leader)) drawn.across = draw_context(own_size + other_size);
    return drawn;
}

bool is_inter(const Comm& comm) noexcept { return comm.inter(); }
std::string name_of(const Comm& comm) { return comm.name.empty() ? "an unnamed communicator" : comm.name; }

Err comm_size(Comm& comm, int& size) {
    size = comm.own_team().size;
    return Err::success;
}

Err comm_rank(Comm& comm, int& rank) {
    rank = comm.team.rank;
    return Err::success;
}

Err comm_remote_size(Comm& comm, int& size) {
    if (!comm.inter()) return not_inter(comm);
    size = comm.team.size;
    return Err::success;
}

Err comm_group(Comm& comm, Group*& group) { return make_group(own_members(comm), comm.session, group); }

Err comm_remote_group(Comm& comm, Group*& group) {
    if (!comm.inter()) return not_inter(comm);
    return make_group(members_of(comm.team), comm.session, group);
}

Err not_inter(const Comm& comm) {
    return fail(Err::comm, "pass an intercommunicator", "%s is an intracommunicator", name_of(comm).c_str());
}

Err not_intra(const Comm& comm) {
    return fail(Err::comm, "pass an intracommunicator", "%s is an intercommunicator", name_of(comm).c_str());
}

Err comm_compare(Comm& a, Comm& b, Comparison& result) {
    if (&a == &b) {
        result = Comparison::ident;
    } else if (a.inter() != b.inter()) {
        result = Comparison::unequal;
    } else {
        result = compare_groups(a, b);
        if (result == Comparison::ident) result = Comparison::congruent;
    }
    return Err::success;
}

namespace {

// Who draws the contexts of a communicator need not wait for anybody when it is made: it could run out of
// them before ranks on other hosts have given any back. Now and then it waits for them here.
Err keep_step(Comm& comm) {
    if (engine()->segment.nodes() == 1 || comm.local != nullptr || !is_milestone(comm.team.context))
        return Err::success;
    return proto::coll::barrier(comm.team);
}

} // namespace

Err comm_free(Comm*& comm) {
    if (comm->permanent)
        return fail(Err::comm, "free only communicators that the program has made", "%s cannot be freed",
                    comm->name.c_str());
    if (const Err e = comm->attributes.erase_all(*comm); e != Err::success) return e;
    if (const Err e = keep_step(*comm); e != Err::success) return e;
    if (comm == engine()->parent) engine()->parent = nullptr;
    release(*comm);
    comm = nullptr;
    return Err::success;
}

Err comm_disconnect(Comm*& comm) {
    const proto::Operation nothing;
    if (!comm->permanent)
        proto::wait_until(
            lane(), [&] { return !has_active_request(*comm); }, proto::note_on(nothing));
    const bool foreign = proto::has_foreign(comm->team) || proto::has_foreign(comm->own_team());
    if (foreign) // nobody leaves while others may still need it
        if (const Err e = barrier(*comm); e != Err::success) return e;
    comm->disconnected = foreign;
    return comm_free(comm);
}

Err comm_get_parent(Comm*& parent) {
    parent = engine()->parent;
    return Err::success;
}

Err comm_get_name(Comm* comm, std::string& name) {
    name = comm != nullptr ? comm->name : "MPI_COMM_NULL";
    return Err::success;
}

Err comm_set_name(Comm& comm, const char* name) {
    comm.name = name;
    record_comm_name(recorder(), comm.team.context, name);
    return Err::success;
}

Err comm_test_inter(Comm& comm, bool& flag) {
    flag = comm.inter();
    return Err::success;
}

Err comm_set_info(Comm& comm, Info* info) {
    if (info == nullptr) return fail(Err::info, "pass an info object", "info is MPI_INFO_NULL");
    const Hints known = understood(hints_of(*info));
    for (const auto& [key, value] : known.pairs()) comm.hints.set(key, value);
    return Err::success;
}

Err comm_get_info(Comm& comm, Info*& info) {
    Hints hints = comm.hints;
    hints.set(memory_kinds_key, memory_kinds_of(comm.session));
    return make_info(std::move(hints), info);
}

} // namespace zipmpi::core
