// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Creation of intercommunicators from two intracommunicators, and merging.
#include "core/api/comm.hpp"
#include "core/comm/comm_util.hpp"
#include "core/comm/control_channel.hpp"
#include "core/dpm/connect.hpp"
#include "core/runtime_state.hpp"
#include "proto/coll/coll.hpp"
#include "transport/stream/process_handshake.hpp"

#include <cstring>

namespace zipmpi::core {
namespace {

namespace coll = proto::coll;

// Data that the leaders exchange and broadcast to their groups.
struct InterSetup {
    Err error = Err::success;
    int remote_size = 0;
    bool has_external = false; // processes of several jobs: contact information is exchanged instead of ranks
    InterContexts contexts;
};

Err check_peer(const Comm* peer, int remote_leader) {
    if (peer == nullptr)
        return fail(Err::comm, "pass a communicator with the leader of the other group",
                    "peer_comm is MPI_COMM_NULL in the local leader");
    if (remote_leader >= 0 && remote_leader < peer->team.size) return Err::success;
    return fail(Err::rank, "pass the rank of the other group's leader in peer_comm",
                "remote_leader %d is not in %s, which has %d ranks", remote_leader, name_of(*peer).c_str(),
                peer->team.size);
}

// In the leader: exchanges sizes first, then members and context.
Err exchange_groups(const proto::Team& own, Comm& peer, int remote_leader, int tag, InterSetup& setup,
                    std::vector<int>& remote) {
    const ControlChannel channel(peer.team, tag);
    const int own_leader = own.map.world(own.rank);
    const int other_leader = peer.team.map.world(remote_leader);
    struct {
        int size;
        int has_external;
    } here{own.size, proto::has_external(own) || wire::is_external(other_leader) ? 1 : 0}, there{};
    if (const Err e = channel.exchange(remote_leader, &here, sizeof here, &there, sizeof there);
        e != Err::success)
        return e;
    setup.remote_size = there.size;
    setup.has_external = here.has_external != 0 || there.has_external != 0;
    if (setup.has_external) return Err::success;
    setup.contexts = allocate_inter_contexts(own_leader, other_leader, own.size, setup.remote_size);
    std::vector<int> out(1, static_cast<int>(setup.contexts.across));
    for (int r = 0; r < own.size; ++r) out.push_back(own.map.world(r));
    std::vector<int> in(static_cast<size_t>(setup.remote_size) + 1);
    const Err e = channel.exchange(remote_leader, out.data(), out.size() * sizeof(int), in.data(),
                                   in.size() * sizeof(int));
    if (e != Err::success) return e;
    if (own_leader > other_leader) setup.contexts.across = static_cast<uint32_t>(in[0]);
    remote.assign(in.begin() + 1, in.end());
    return Err::success;
}

// Setup of groups with processes of several jobs, after all local members have been notified: the exchange of
// connect_groups() in core/dpm, over a communicator instead of a socket.
struct ExternalSetup {
    InterContexts contexts;
    char key[transport::stream::key_bytes];
};

Err exchange_external_groups(proto::Team& own, int local_leader, Comm* peer, int remote_leader, int tag,
                             InterSetup& setup, std::vector<int>& remote) {
    Contacts here;
    if (const Err e = gather_contacts(own, here); e != Err::success) return e;
    Contacts there(static_cast<size_t>(setup.remote_size));
    ExternalSetup own_setup{};
    Err error = Err::success;
    if (own.rank == local_leader) {
        const ControlChannel channel(peer->team, tag);
        const int own_leader = own.map.world(own.rank);
        const int other_leader = peer->team.map.world(remote_leader);
        own_setup.contexts = allocate_inter_contexts(own_leader, other_leader, own.size, setup.remote_size);
        std::memcpy(own_setup.key, transport::stream::random_bytes(sizeof own_setup.key).data(),
                    sizeof own_setup.key);
        ExternalSetup remote_setup{};
        error =
            channel.exchange(remote_leader, &own_setup, sizeof own_setup, &remote_setup, sizeof remote_setup);
        if (error == Err::success)
            error = channel.exchange(remote_leader, here.data(), here.size() * sizeof here[0], there.data(),
                                     there.size() * sizeof there[0]);
        if (precedes(other_leader, own_leader)) {
            own_setup.contexts.across = remote_setup.contexts.across;
            std::memcpy(own_setup.key, remote_setup.key, sizeof own_setup.key);
        }
        if (error == Err::success &&
            (!is_valid_remote_group(here, there) || !is_valid_shared_context(own_setup.contexts.across)))
            error = fail(Err::comm, "pass leaders of disjoint groups",
                         "the other leader described a group or a context that cannot be used");
        setup.contexts = own_setup.contexts;
        setup.error = error;
    }
    if (const Err e = coll::broadcast(own, &setup, sizeof setup, local_leader); e != Err::success) return e;
    if (setup.error != Err::success) return setup.error;
    for (const auto& [data, bytes] : {std::pair<void*, size_t>(own_setup.key, sizeof own_setup.key),
                                      std::pair<void*, size_t>(there.data(), there.size() * sizeof there[0])})
        if (const Err e = coll::broadcast(own, data, bytes, local_leader); e != Err::success) return e;
    remote = register_contacts(there, std::string(own_setup.key, sizeof own_setup.key));
    return Err::success;
}

Err require_disjoint(const Members& a, const Members& b) {
    const RankIndex in_a(a);
    for (int r = 0; r < b.size(); ++r)
        if (in_a[b[r]] >= 0)
            return fail(Err::comm, "pass communicators without common members",
                        "rank %d of the job is in both groups", b[r]);
    return Err::success;
}

} // namespace

Err intercomm_create(Comm& local, int local_leader, Comm* peer, int remote_leader, int tag, Comm*& result) {
    result = nullptr;
    if (local.inter()) return intracomm_required(local);
    proto::Team& own = local.team;
    InterSetup setup;
    std::vector<int> remote;
    if (own.rank == local_leader) {
        setup.error = check_peer(peer, remote_leader);
        if (setup.error == Err::success)
            setup.error = exchange_groups(own, *peer, remote_leader, tag, setup, remote);
    }
    if (const Err e = coll::broadcast(own, &setup, sizeof setup, local_leader); e != Err::success) return e;
    if (setup.error != Err::success)
        return own.rank == local_leader ? setup.error
                                        : fail(setup.error, "correct the call in the local leader",
                                               "rank %d, the local leader, reported an error", local_leader);
    if (setup.has_external) {
        if (const Err e =
                exchange_external_groups(own, local_leader, peer, remote_leader, tag, setup, remote);
            e != Err::success)
            return e;
    } else {
        remote.resize(static_cast<size_t>(setup.remote_size));
        if (const Err e = coll::broadcast(own, remote.data(), remote.size() * sizeof(int), local_leader);
            e != Err::success)
            return e;
    }
    if (setup.contexts.across == 0 || setup.contexts.local == 0) return context_exhausted();
    const Members there(std::move(remote));
    if (const Err e = require_disjoint(members_of(own), there); e != Err::success) return e;
    proto::Team local_team = own;
    local_team.context = setup.contexts.local;
    local_team.collectives = 0;
    result = make_intercomm(make_team(there, own.rank, setup.contexts.across), local_team, *local.errhandler);
    if (result == nullptr) return comm_alloc_error();
    result->session = local.session;
    return Err::success;
}

// The group that passes high comes second; if both pass equal values, the group whose first rank is lower in
// the job comes first. The first rank of the group that is lower in the job allocates the context, whichever
// group comes first.
Err intercomm_merge(Comm& comm, bool high, Comm*& result) {
    result = nullptr;
    if (!comm.inter()) return intercomm_required(comm);
    proto::Team& own = *comm.local;
    proto::Team& there = comm.team;
    struct MergeInfo {
        uint32_t context = 0;
        bool high = false;
    };
    struct {
        MergeInfo local, remote;
    } infos;
    const bool lower = precedes(own.map.world(0), there.map.world(0));
    const ControlChannel channel = ControlChannel::collective(there);
    if (own.rank == 0) {
        infos.local = {lower ? allocate_context(own.size + there.size) : 0, high};
        if (const Err e =
                channel.exchange(0, &infos.local, sizeof(MergeInfo), &infos.remote, sizeof(MergeInfo));
            e != Err::success)
            return e;
    }
    if (const Err e = coll::broadcast(own, &infos, sizeof infos, 0); e != Err::success) return e;
    const uint32_t context = lower ? infos.local.context : infos.remote.context;
    if (context == 0) return context_exhausted();
    const bool first = infos.local.high != infos.remote.high ? !infos.local.high : lower;
    std::vector<int> ranks;
    for (const proto::Team* const team : {first ? &own : &there, first ? &there : &own})
        for (int r = 0; r < team->size; ++r) ranks.push_back(team->map.world(r));
    const int rank = first ? own.rank : there.size + own.rank;
    result = make_comm(make_team(Members(std::move(ranks)), rank, context), "", *comm.errhandler);
    if (result == nullptr) return comm_alloc_error();
    result->session = comm.session;
    return Err::success;
}

} // namespace zipmpi::core
