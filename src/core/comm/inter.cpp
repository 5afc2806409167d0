// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Intercommunicators out of two intracommunicators, and back.
#include "core/comm/link.hpp"
#include "core/comm/make.hpp"
#include "core/state.hpp"
#include "core/worlds/worlds.hpp"
#include "proto/coll/coll.hpp"
#include "worlds/handshake.hpp"

#include <cstring>

namespace zipmpi::core {
namespace {

namespace coll = proto::coll;

// What the leaders find out and tell their groups.
struct Meeting {
    Err error = Err::success;
    int remote_size = 0;
    bool foreign = false; // processes of several jobs: cards are exchanged instead of ranks
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

// In the leader: sizes first, then members and the context.
Err meet(const proto::Team& own, Comm& peer, int remote_leader, int tag, Meeting& meeting,
         std::vector<int>& remote) {
    const Link link(peer.team, tag);
    const int own_leader = own.map.world(own.rank);
    const int other_leader = peer.team.map.world(remote_leader);
    struct {
        int size;
        int foreign;
    } here{own.size, proto::has_foreign(own) || wire::is_foreign(other_leader) ? 1 : 0}, there{};
    if (const Err e = link.exchange(remote_leader, &here, sizeof here, &there, sizeof there);
        e != Err::success)
        return e;
    meeting.remote_size = there.size;
    meeting.foreign = here.foreign != 0 || there.foreign != 0;
    if (meeting.foreign) return Err::success;
    meeting.contexts = draw_inter_contexts(own_leader, other_leader, own.size, meeting.remote_size);
    std::vector<int> out(1, static_cast<int>(meeting.contexts.across));
    for (int r = 0; r < own.size; ++r) out.push_back(own.map.world(r));
    std::vector<int> in(static_cast<size_t>(meeting.remote_size) + 1);
    const Err e = link.exchange(remote_leader, out.data(), out.size() * sizeof(int), in.data(),
                                in.size() * sizeof(int));
    if (e != Err::success) return e;
    if (own_leader > other_leader) meeting.contexts.across = static_cast<uint32_t>(in[0]);
    remote.assign(in.begin() + 1, in.end());
    return Err::success;
}

// The same for groups with processes of several jobs, after all of the own one have heard of it: what is
// exchanged is what meet() in core/worlds does, over a communicator instead of a connection.
struct Offer {
    InterContexts contexts;
    char key[worlds::key_bytes];
};

Err meet_foreign(proto::Team& own, int local_leader, Comm* peer, int remote_leader, int tag, Meeting& meeting,
                 std::vector<int>& remote) {
    Cards here;
    if (const Err e = gather_cards(own, here); e != Err::success) return e;
    Cards there(static_cast<size_t>(meeting.remote_size));
    Offer offer{};
    Err error = Err::success;
    if (own.rank == local_leader) {
        const Link link(peer->team, tag);
        const int own_leader = own.map.world(own.rank);
        const int other_leader = peer->team.map.world(remote_leader);
        offer.contexts = draw_inter_contexts(own_leader, other_leader, own.size, meeting.remote_size);
        std::memcpy(offer.key, worlds::random_bytes(sizeof offer.key).data(), sizeof offer.key);
        Offer theirs{};
        error = link.exchange(remote_leader, &offer, sizeof offer, &theirs, sizeof theirs);
        if (error == Err::success)
            error = link.exchange(remote_leader, here.data(), here.size() * sizeof here[0], there.data(),
                                  there.size() * sizeof there[0]);
        if (goes_before(other_leader, own_leader)) {
            offer.contexts.across = theirs.contexts.across;
            std::memcpy(offer.key, theirs.key, sizeof offer.key);
        }
        meeting.contexts = offer.contexts;
        meeting.error = error;
    }
    if (const Err e = coll::broadcast(own, &meeting, sizeof meeting, local_leader); e != Err::success)
        return e;
    if (meeting.error != Err::success) return meeting.error;
    for (const auto& [data, bytes] : {std::pair<void*, size_t>(offer.key, sizeof offer.key),
                                      std::pair<void*, size_t>(there.data(), there.size() * sizeof there[0])})
        if (const Err e = coll::broadcast(own, data, bytes, local_leader); e != Err::success) return e;
    remote = introduce(there, std::string(offer.key, sizeof offer.key));
    return Err::success;
}

Err need_disjoint(const Members& a, const Members& b) {
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
    if (local.inter()) return not_intra(local);
    proto::Team& own = local.team;
    Meeting meeting;
    std::vector<int> remote;
    if (own.rank == local_leader) {
        meeting.error = check_peer(peer, remote_leader);
        if (meeting.error == Err::success)
            meeting.error = meet(own, *peer, remote_leader, tag, meeting, remote);
    }
    if (const Err e = coll::broadcast(own, &meeting, sizeof meeting, local_leader); e != Err::success)
        return e;
    if (meeting.error != Err::success)
        return own.rank == local_leader ? meeting.error
                                        : fail(meeting.error, "correct the call in the local leader",
                                               "rank %d, the local leader, has failed", local_leader);
    if (meeting.foreign) {
        if (const Err e = meet_foreign(own, local_leader, peer, remote_leader, tag, meeting, remote);
            e != Err::success)
            return e;
    } else {
        remote.resize(static_cast<size_t>(meeting.remote_size));
        if (const Err e = coll::broadcast(own, remote.data(), remote.size() * sizeof(int), local_leader);
            e != Err::success)
            return e;
    }
    if (meeting.contexts.across == 0 || meeting.contexts.local == 0) return no_context();
    const Members there(std::move(remote));
    if (const Err e = need_disjoint(members_of(own), there); e != Err::success) return e;
    proto::Team local_team = own;
    local_team.context = meeting.contexts.local;
    local_team.collectives = 0;
    result =
        make_intercomm(make_team(there, own.rank, meeting.contexts.across), local_team, *local.errhandler);
    if (result == nullptr) return no_comm();
    result->session = local.session;
    return Err::success;
}

// The group that says high comes second; if both say the same, the one whose first rank is lower in the job
// comes first, and its first rank draws the context.
Err intercomm_merge(Comm& comm, bool high, Comm*& result) {
    result = nullptr;
    if (!comm.inter()) return not_inter(comm);
    proto::Team& own = *comm.local;
    proto::Team& there = comm.team;
    struct Word {
        uint32_t context = 0;
        bool high = false;
    };
    struct {
        Word here, there;
    } words;
    const bool lower = goes_before(own.map.world(0), there.map.world(0));
    const Link link = Link::collective(there);
    if (own.rank == 0) {
        words.here = {lower ? draw_context(own.size + there.size) : 0, high};
        if (const Err e = link.exchange(0, &words.here, sizeof(Word), &words.there, sizeof(Word));
            e != Err::success)
            return e;
    }
    if (const Err e = coll::broadcast(own, &words, sizeof words, 0); e != Err::success) return e;
    const uint32_t context = lower ? words.here.context : words.there.context;
    if (context == 0) return no_context();
    const bool first = words.here.high != words.there.high ? !words.here.high : lower;
    std::vector<int> ranks;
    for (const proto::Team* const team : {first ? &own : &there, first ? &there : &own})
        for (int r = 0; r < team->size; ++r) ranks.push_back(team->map.world(r));
    const int rank = first ? own.rank : there.size + own.rank;
    result = make_comm(make_team(Members(std::move(ranks)), rank, context), "", *comm.errhandler);
    if (result == nullptr) return no_comm();
    result->session = comm.session;
    return Err::success;
}

} // namespace zipmpi::core
