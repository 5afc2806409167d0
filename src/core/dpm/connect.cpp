// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/dpm/connect.hpp"

#include "base/param.hpp"
#include "core/comm/comm_util.hpp"
#include "core/comm/context.hpp"
#include "core/runtime_state.hpp"
#include "proto/coll/coll.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "transport/interjob/contact_check.hpp"
#include "transport/interjob/interjob_network.hpp"
#include "transport/stream/sockets.hpp"

#include <cstring>

namespace zipmpi::core {
namespace {

namespace coll = proto::coll;

Param<std::string> interfaces{
    "dpm.interfaces",
    "",
    nullptr,
    Level::user,
    Scope::local,
    "network interfaces for inter-job connections, comma-separated; empty: all that are up"};

// Equal in all processes of the job, different in other jobs.
uint64_t own_job_number(const Runtime& e) {
    const auto& key = e.segment.header().keys.inter_job;
    std::string text = e.job.id + '/' + std::to_string(e.job.size) + '/';
    text.append(reinterpret_cast<const char*>(key), sizeof key);
    if (e.segment.nodes() == 1) text += std::to_string(transport::stream::host_id());
    uint64_t number = 0;
    std::memcpy(&number, sha256(text).data(), sizeof number);
    return number | 1; // 0 is invalid
}

// Peers of the job's own network are its ranks and gateways.
constexpr transport::Peer max_gateways = 1024;

bool open_interjob_network(Runtime& e, std::string& why) {
    if (e.interjob_network != nullptr) return true;
    interjob::InterJobNetwork::InterJobConfig settings;
    settings.name = {own_job_number(e), e.job.rank, 0};
    settings.devices = interfaces.get();
    settings.first_peer = static_cast<transport::Peer>(e.job.size) + max_gateways;
    settings.listener = &e.progress_engine->network_events();
    settings.is_context_in_use = is_context_in_use;
    auto inner = e.progress_engine->network_port().take();
    const bool has_no_network = inner == nullptr;
    auto network = interjob::InterJobNetwork::open(settings, inner, why);
    if (network == nullptr || (has_no_network && !e.progress_engine->shm().enable_socket_wakeup())) {
        if (inner != nullptr) e.progress_engine->network_port().use(std::move(inner));
        if (why.empty()) why = "no wakeup socket";
        return false;
    }
    e.interjob_network = network.get();
    e.progress_engine->network_port().use(std::move(network));
    e.progress_engine->peers().enable_external_ranks();
    return true;
}

// Data that the root broadcasts to its group.
struct GroupInfo {
    Err error = Err::success;
    int remote_size = 0;
    uint32_t inter_context = 0;
    uint32_t local_context = 0;
    char key[transport::stream::key_bytes] = {};
};

// Gateways do not relay messages between jobs. All members return the same; with ranks of other jobs, which
// do not know the clusters, the attempt is made.
Err require_one_cluster(const proto::Team& team) {
    const proto::PeerDirectory& peers = runtime()->progress_engine->peers();
    int other = 0;
    for (int r = 0; r < team.size; ++r) {
        if (wire::is_external(team.map.world(r))) return Err::success;
        if (peers.cluster_of(team.map.world(r)) != peers.cluster_of(team.map.world(0))) other = r;
    }
    if (other == 0) return Err::success;
    return fail(Err::unsupported_operation,
                "use a communicator of one cluster (MPI_Comm_split_type with mpi_hw_resource_type "
                "zipmpi://cluster)",
                "ranks 0 and %d of the communicator are in different clusters, and gateways do not relay "
                "messages between jobs",
                other);
}

} // namespace

bool precedes(int world_rank, int other) {
    const Runtime& e = *runtime();
    if (!wire::is_external(world_rank) && !wire::is_external(other)) return world_rank < other;
    return e.interjob_network->name_of(world_rank) < e.interjob_network->name_of(other);
}

void retain_external(const proto::Team& team) {
    if (runtime() == nullptr || runtime()->interjob_network == nullptr) return;
    for (int r = 0; r < team.size; ++r)
        if (wire::is_external(team.map.world(r)))
            runtime()->interjob_network->retain(team.map.world(r), team.context);
}

void release_external(const proto::Team& team) {
    for (int r = 0; r < team.size; ++r)
        if (wire::is_external(team.map.world(r)))
            runtime()->interjob_network->release(team.map.world(r), team.context);
}

Err gather_contacts(proto::Team& team, Contacts& contacts) {
    Runtime& e = *runtime();
    std::string why;
    const bool joined = open_interjob_network(e, why);
    contacts.assign(static_cast<size_t>(team.size), {});
    if (joined) contacts[static_cast<size_t>(team.rank)] = e.interjob_network->contact_info();
    if (const Err err = coll::allgather(team, contacts.data(), sizeof(transport::stream::ContactInfo));
        err != Err::success)
        return err;
    const char* const fix = "check limits of open files, and ZIPMPI_DPM_INTERFACES if it is set";
    if (!joined) return fail(Err::other, fix, "%s", why.c_str());
    for (size_t r = 0; r < contacts.size(); ++r)
        if (contacts[r].name.job == 0)
            return fail(Err::other, fix, "rank %zu of the communicator has no address for other jobs", r);
    return Err::success;
}

bool is_valid_remote_group(const Contacts& own, const Contacts& remote) {
    const interjob::OwnJob job{runtime()->interjob_network->contact_info().name.job, runtime()->job.size};
    return interjob::is_valid_remote_group(job, own, remote);
}

bool is_valid_shared_context(uint32_t context) {
    return interjob::is_interjob_context(context) && !is_context_in_use(context);
}

std::vector<int> register_contacts(const Contacts& contacts, const std::string& key) {
    std::vector<int> ranks;
    ranks.reserve(contacts.size());
    for (const transport::stream::ContactInfo& contact : contacts)
        ranks.push_back(runtime()->interjob_network->add_peer(contact, key));
    return ranks;
}

Err connect_groups(Comm& comm, int root, const RootExchange& exchange, Comm*& result) {
    result = nullptr;
    if (comm.inter()) return intracomm_required(comm);
    proto::Team& own = comm.team;
    if (const Err e = require_one_cluster(own); e != Err::success) return e;
    Contacts contacts;
    if (const Err e = gather_contacts(own, contacts); e != Err::success) return e;
    ConnectInfo connect_info;
    GroupInfo group_info;
    if (own.rank == root) {
        group_info.error = exchange(contacts, connect_info);
        group_info.remote_size = static_cast<int>(connect_info.remote_contacts.size());
        group_info.inter_context = connect_info.context;
        group_info.local_context = allocate_context(own.size);
        if (group_info.error == Err::success)
            std::memcpy(group_info.key, connect_info.key.data(), sizeof group_info.key);
    }
    // An error in the root remains its last error.
    const Err here = group_info.error;
    if (const Err e = coll::broadcast(own, &group_info, sizeof group_info, root); e != Err::success) return e;
    if (here != Err::success) return here;
    if (group_info.error != Err::success)
        return fail(group_info.error, "see the error in the root", "rank %d, the root, reported an error",
                    root);
    connect_info.remote_contacts.resize(static_cast<size_t>(group_info.remote_size));
    if (const Err e = coll::broadcast(
            own, connect_info.remote_contacts.data(),
            connect_info.remote_contacts.size() * sizeof(transport::stream::ContactInfo), root);
        e != Err::success)
        return e;
    if (group_info.inter_context == 0 || group_info.local_context == 0) return context_exhausted();
    const Members there(
        register_contacts(connect_info.remote_contacts, std::string(group_info.key, sizeof group_info.key)));
    proto::Team local = own;
    local.context = group_info.local_context;
    local.collectives = 0;
    result = make_intercomm(make_team(there, own.rank, group_info.inter_context), local, *comm.errhandler);
    if (result == nullptr) return comm_alloc_error();
    result->session = comm.session;
    return Err::success;
}

} // namespace zipmpi::core
