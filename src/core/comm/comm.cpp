// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Communicator objects: creation, destruction and queries.
#include "core/comm/comm.hpp"

#include "base/recorder.hpp"
#include "core/api/coll.hpp"
#include "core/api/comm.hpp"
#include "core/api/process.hpp"
#include "core/comm/comm_util.hpp"
#include "core/dpm/connect.hpp"
#include "core/fault/fault.hpp"
#include "core/group/group.hpp"
#include "core/info/launch_keys.hpp"
#include "core/request/request.hpp"
#include "core/runtime_state.hpp"
#include "proto/coll/coll.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "proto/progress/wait.hpp"

namespace zipmpi::core {
namespace {

Slab<Comm>& slab() {
    static auto* const s = new Slab<Comm>; // never destroyed: see slab.hpp
    return *s;
}

Comparison compare_groups(const Comm& a, const Comm& b) {
    const Comparison local = compare(own_members(a), own_members(b));
    if (!a.inter()) return local;
    const Comparison remote = compare(members_of(a.team), members_of(b.team));
    return local > remote ? local : remote;
}

} // namespace

Hints supported_hints(const Hints& hints) {
    Hints supported;
    for (const char* const key : {"mpi_assert_no_any_tag", "mpi_assert_no_any_source",
                                  "mpi_assert_exact_length", "mpi_assert_allow_overtaking"})
        if (const std::string* const value = hints.find(key); value != nullptr) supported.set(key, *value);
    return supported;
}

Err comm_alloc_error() { return fail(Err::no_mem, "free memory", "no memory for another communicator"); }

Comm* make_comm(const proto::Team& team, std::string name, Errhandler& handler) {
    Comm* comm = slab().make();
    if (comm == nullptr) return nullptr;
    comm->refs.store(1, std::memory_order_relaxed);
    comm->team = team;
    comm->peer_count = team.size;
    comm->context = team.context;
    comm->name = std::move(name);
    comm->errhandler = share(handler);
    if (!comm->name.empty()) record_comm_name(recorder(), team.context, comm->name.c_str());
    retain_external(team);
    update_comm_faults(*comm);
    return comm;
}

Comm* make_intercomm(const proto::Team& across, const proto::Team& local, Errhandler& handler) {
    Comm* const comm = make_comm(across, "", handler);
    if (comm == nullptr) return nullptr;
    comm->local = std::make_unique<proto::Team>(local);
    retain_external(local);
    comm->failures_seen = 0; // includes failures in the local group
    comm->failed.clear();
    update_comm_faults(*comm);
    return comm;
}

void destroy_unreferenced(Comm& comm) {
    record_comm_freed(recorder(), comm.team.context);
    progress_engine().drop_unexpected(comm.team.context);
    if (clear_comm_faults(comm)) {
        release_context(comm.team.context);
        if (comm.local != nullptr) release_context(comm.local->context);
    }
    release(comm.errhandler);
    if (comm.disconnected) {
        release_external(comm.team);
        if (comm.local != nullptr) release_external(*comm.local);
    }
    slab().destroy(comm);
}

const void* comm_chunks() { return slab().chunks(); }
void for_each_comm(void (*visit)(Comm& comm)) { slab().for_each(visit); }

Comm* comm_by_index(uint32_t index) { return slab().find(index); }

proto::Team make_team(const Members& members, int rank, uint32_t context) {
    return {runtime()->progress_engine.get(), context, rank, members.size(), members.map(), 0};
}

Members members_of(const proto::Team& team) { return {team.map, team.size}; }

InterContexts allocate_inter_contexts(int own_leader, int other_leader, int own_size, int other_size) {
    InterContexts contexts;
    contexts.local = allocate_context(own_size);
    if (precedes(own_leader, other_leader)) contexts.across = allocate_context(own_size + other_size);
    return contexts;
}

bool is_inter(const Comm& comm) noexcept { return comm.inter(); }
int rank_of(const Comm& comm) noexcept { return comm.team.rank; }
int local_size_of(const Comm& comm) noexcept { return comm.own_team().size; }
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
    if (!comm.inter()) return intercomm_required(comm);
    size = comm.team.size;
    return Err::success;
}

Err comm_group(Comm& comm, Group*& group) { return make_group(own_members(comm), comm.session, group); }

Err comm_remote_group(Comm& comm, Group*& group) {
    if (!comm.inter()) return intercomm_required(comm);
    return make_group(members_of(comm.team), comm.session, group);
}

Err intercomm_required(const Comm& comm) {
    return fail(Err::comm, "pass an intercommunicator", "%s is an intracommunicator", name_of(comm).c_str());
}

Err intracomm_required(const Comm& comm) {
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

// The process that allocates contexts does not wait for other ranks when it creates a communicator, and could
// exhaust them before ranks on other hosts release any. At throttle points it waits for them here.
Err throttle_allocation(Comm& comm) {
    if (runtime()->segment.nodes() == 1 || comm.local != nullptr || !is_throttle_point(comm.team.context))
        return Err::success;
    return proto::coll::barrier(comm.team);
}

} // namespace

Err comm_free(Comm*& comm) {
    if (comm->permanent)
        return fail(Err::comm, "free only communicators that the application created", "%s cannot be freed",
                    comm->name.c_str());
    if (const Err e = comm->attributes.erase_all(*comm); e != Err::success) return e;
    if (const Err e = throttle_allocation(*comm); e != Err::success) return e;
    if (comm == runtime()->parent) runtime()->parent = nullptr;
    release(*comm);
    comm = nullptr;
    return Err::success;
}

Err comm_disconnect(Comm*& comm) {
    const proto::Operation nothing;
    if (!comm->permanent)
        proto::wait_until(
            progress_engine(), [&] { return !has_active_request(*comm); }, proto::wait_info_of(nothing));
    const bool has_external = proto::has_external(comm->team) || proto::has_external(comm->own_team());
    if (has_external) // other jobs may still need this process
        if (const Err e = barrier(CallForm::blocking(), *comm); e != Err::success) return e;
    comm->disconnected = has_external;
    return comm_free(comm);
}

Err comm_get_parent(Comm*& parent) {
    parent = runtime()->parent;
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
    const Hints supported = supported_hints(hints_of(*info));
    for (const auto& [key, value] : supported.pairs()) comm.hints.set(key, value);
    return Err::success;
}

Err comm_get_info(Comm& comm, Info*& info) {
    Hints hints = comm.hints;
    hints.set(memory_kinds_key, memory_kinds_of(comm.session));
    return make_info(std::move(hints), info);
}

} // namespace zipmpi::core
