// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/worlds/worlds.hpp"

#include "base/param.hpp"
#include "core/comm/make.hpp"
#include "core/state.hpp"
#include "proto/coll/coll.hpp"
#include "proto/p2p/lane.hpp"
#include "worlds/network.hpp"

#include <cstring>

namespace zipmpi::core {
namespace {

namespace coll = proto::coll;

Param<std::string> interfaces{
    "worlds.interfaces",
    "",
    nullptr,
    Level::user,
    Scope::local,
    "network interfaces on which this program answers other MPI programs that it is "
    "connected with, separated by commas; empty: all that are up"};

// The same in all processes of the job, and in no other job.
uint64_t own_world(const Engine& e) {
    const auto& key = e.segment.header().job_key;
    std::string text = e.job.id + '/' + std::to_string(e.job.size) + '/';
    text.append(reinterpret_cast<const char*>(key), sizeof key);
    if (e.segment.nodes() == 1) text += std::to_string(worlds::host_number());
    uint64_t number = 0;
    std::memcpy(&number, sha256(text).data(), sizeof number);
    return number | 1; // 0 is no world
}

// Peers of the network inside are ranks of the job and a few gateways.
constexpr transport::Peer most_gateways = 1024;

bool join_worlds(Engine& e, std::string& why) {
    if (e.worlds != nullptr) return true;
    worlds::WorldsNetwork::Settings settings;
    settings.name = {own_world(e), e.job.rank, 0};
    settings.devices = interfaces.get();
    settings.first_peer = static_cast<transport::Peer>(e.job.size) + most_gateways;
    settings.sink = e.lane->network_sink();
    auto inner = e.lane->take_network();
    const bool alone = inner == nullptr;
    auto network = worlds::WorldsNetwork::open(settings, inner, why);
    if (network == nullptr || (alone && !e.lane->shm().hear_a_bell())) {
        if (inner != nullptr) e.lane->use_network(std::move(inner));
        if (why.empty()) why = "no socket to be woken by";
        return false;
    }
    e.worlds = network.get();
    e.lane->use_network(std::move(network));
    e.lane->expect_foreign();
    return true;
}

// What the root tells its group.
struct Agreed {
    Err error = Err::success;
    int remote_size = 0;
    uint32_t across = 0;
    uint32_t local = 0;
    char key[worlds::key_bytes] = {};
};

} // namespace

bool goes_before(int world_rank, int other) {
    const Engine& e = *engine();
    if (!wire::is_foreign(world_rank) && !wire::is_foreign(other)) return world_rank < other;
    return e.worlds->name_of(world_rank) < e.worlds->name_of(other);
}

void hold_foreign(const proto::Team& team) {
    if (engine() == nullptr || engine()->worlds == nullptr) return;
    for (int r = 0; r < team.size; ++r)
        if (wire::is_foreign(team.map.world(r))) engine()->worlds->hold(team.map.world(r));
}

void let_go_foreign(const proto::Team& team) {
    for (int r = 0; r < team.size; ++r)
        if (wire::is_foreign(team.map.world(r))) engine()->worlds->end_hold(team.map.world(r));
}

Err gather_cards(proto::Team& team, Cards& cards) {
    Engine& e = *engine();
    std::string why;
    const bool joined = join_worlds(e, why);
    cards.assign(static_cast<size_t>(team.size), {});
    if (joined) cards[static_cast<size_t>(team.rank)] = e.worlds->card();
    if (const Err err = coll::allgather(team, cards.data(), sizeof(worlds::Card)); err != Err::success)
        return err;
    const char* const todo = "check limits of open files, and ZIPMPI_WORLDS_INTERFACES if it is set";
    if (!joined) return fail(Err::other, todo, "%s", why.c_str());
    for (size_t r = 0; r < cards.size(); ++r)
        if (cards[r].name.world == 0)
            return fail(Err::other, todo, "rank %zu of the communicator cannot be reached by others", r);
    return Err::success;
}

std::vector<int> introduce(const Cards& cards, const std::string& key) {
    std::vector<int> ranks;
    ranks.reserve(cards.size());
    for (const worlds::Card& card : cards) ranks.push_back(engine()->worlds->introduce(card, key));
    return ranks;
}

Err meet(Comm& comm, int root, const Talk& talk, Comm*& result) {
    result = nullptr;
    if (comm.inter()) return not_intra(comm);
    proto::Team& own = comm.team;
    Cards cards;
    if (const Err e = gather_cards(own, cards); e != Err::success) return e;
    Deal deal;
    Agreed agreed;
    if (own.rank == root) {
        agreed.error = talk(cards, deal);
        agreed.remote_size = static_cast<int>(deal.there.size());
        agreed.across = deal.context;
        agreed.local = draw_context(own.size);
        if (agreed.error == Err::success) std::memcpy(agreed.key, deal.key.data(), sizeof agreed.key);
    }
    // What went wrong in the root stays its last error.
    const Err here = agreed.error;
    if (const Err e = coll::broadcast(own, &agreed, sizeof agreed, root); e != Err::success) return e;
    if (here != Err::success) return here;
    if (agreed.error != Err::success)
        return fail(agreed.error, "see what the root says", "rank %d, the root, has failed", root);
    deal.there.resize(static_cast<size_t>(agreed.remote_size));
    if (const Err e = coll::broadcast(own, deal.there.data(), deal.there.size() * sizeof(worlds::Card), root);
        e != Err::success)
        return e;
    if (agreed.across == 0 || agreed.local == 0) return no_context();
    const Members there(introduce(deal.there, std::string(agreed.key, sizeof agreed.key)));
    proto::Team local = own;
    local.context = agreed.local;
    local.collectives = 0;
    result = make_intercomm(make_team(there, own.rank, agreed.across), local, *comm.errhandler);
    if (result == nullptr) return no_comm();
    result->session = comm.session;
    return Err::success;
}

} // namespace zipmpi::core
