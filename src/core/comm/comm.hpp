// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A communicator: its teams and the objects attached to it.
//
// An intracommunicator has one Team for messages and collectives. An intercommunicator has two:
//   team    reaches the remote group: ranks in calls on it are remote ranks. team.rank is the rank of this
//           process in the local group, which the remote side sees as the source; team.size is the remote
//           size.
//   local   the local group, with its own context, for collectives inside it.
// Point-to-point code therefore uses `team` in both cases; collectives check inter().
#pragma once

#include "core/attr/attr.hpp"
#include "core/comm/barrier_rounds.hpp"
#include "core/errhandler/errhandler.hpp"
#include "core/info/info.hpp"
#include "core/object.hpp"
#include "core/session.hpp"
#include "proto/team.hpp"

#include <memory>
#include <string>
#include <vector>

namespace zipmpi::core {

struct Topology; // core/topology/topology.hpp
class BsendBuffer;

struct Comm : CommHeader {
    static constexpr ObjectKind class_id = ObjectKind::comm;
    proto::Team team;
    std::unique_ptr<proto::Team> local; // intercommunicator only; null for an intracommunicator
    std::string name;
    Errhandler* errhandler = nullptr;          // reference-counted
    Attributes attributes;                     // set by the application
    std::shared_ptr<const Topology> topology;  // null: none; shared by duplicates
    std::unique_ptr<BsendBuffer> bsend_buffer; // attached for buffered sends
    Session* session = nullptr;                // session it derives from; null: none
    Hints hints;                               // from info objects
    BarrierRounds barriers;
    std::vector<int> failed;     // world ranks of failed members, in the order of their failures
    uint32_t failures_seen = 0;  // failures of the job already evaluated for `failed`
    uint32_t acknowledged = 0;   // entries of `failed` acknowledged by the application
    uint32_t agreements = 0;     // agreements started so far
    uint32_t partition_tags = 0; // tags allocated to partitioned sends so far
    bool disconnected = false;   // external processes are released with it
    bool permanent = false;      // MPI_COMM_WORLD and MPI_COMM_SELF cannot be freed by the application

    [[nodiscard]] bool inter() const { return local != nullptr; }
    // The local group, for collectives inside it.
    [[nodiscard]] proto::Team& own_team() { return local != nullptr ? *local : team; }
    [[nodiscard]] const proto::Team& own_team() const { return local != nullptr ? *local : team; }
};

// A communicator lives while its handle or a request on it exists. The last release frees its contexts. Null
// if memory is exhausted.
Comm* make_comm(const proto::Team& team, std::string name, Errhandler& handler);
Comm* make_intercomm(const proto::Team& across, const proto::Team& local, Errhandler& handler);
void destroy_unreferenced(Comm& comm);
inline void release(Comm& comm) {
    if (release_ref(comm)) [[unlikely]]
        destroy_unreferenced(comm);
}
void for_each_comm(void (*visit)(Comm& comm));
const void* comm_chunks(); // Slab::chunks()

} // namespace zipmpi::core
