// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A communicator: how its members reach each other, and what is attached to it.
//
// An intracommunicator has one Team for messages and collectives. An intercommunicator has two:
//   team    reaches the remote group: ranks in calls on it are remote ranks. team.rank is the own rank in the
//           local group, which is what the remote side sees as the source; team.size is the remote size.
//   local   the local group, with a context of its own: collectives inside it work as on any team.
// So point-to-point code uses `team` and need not ask; collectives ask inter().
#pragma once

#include "core/attr/attr.hpp"
#include "core/errhandler/errhandler.hpp"
#include "core/info/info.hpp"
#include "core/object.hpp"
#include "core/session.hpp"
#include "proto/team.hpp"

#include <memory>
#include <string>
#include <vector>

namespace zipmpi::core {

struct Topology; // core/topo/topology.hpp
class SendBuffer;

struct Comm : CommFace {
    static constexpr Class class_id = Class::comm;
    proto::Team team;
    std::unique_ptr<proto::Team> local; // of an intercommunicator; null for an intracommunicator
    std::string name;
    Errhandler* errhandler = nullptr;         // counted
    Attributes attributes;                    // of the program
    std::shared_ptr<const Topology> topology; // null: none; shared by copies
    std::unique_ptr<SendBuffer> send_buffer;  // attached for buffered sends
    Session* session = nullptr;               // that it comes from; null: none
    Hints hints;                              // from info objects
    std::vector<int> failed;                  // members, as ranks of the job, in the order of their failures
    uint32_t failures_seen = 0;               // of the job: so many were looked at for that
    uint32_t acknowledged = 0;                // of the failed ones
    uint32_t agreements = 0;                  // begun so far
    uint32_t partition_tags = 0;              // handed out to partitioned sends so far
    bool disconnected = false;                // the processes of other jobs are let go with it
    bool permanent = false;                   // MPI_COMM_WORLD and MPI_COMM_SELF cannot be freed by the user

    [[nodiscard]] bool inter() const { return local != nullptr; }
    // The group that this process belongs to, for collectives inside it.
    [[nodiscard]] proto::Team& own_team() { return local != nullptr ? *local : team; }
    [[nodiscard]] const proto::Team& own_team() const { return local != nullptr ? *local : team; }
};

// A communicator lives while its handle or a request on it does. The last release gives its contexts back.
// Null if memory is exhausted.
Comm* make_comm(const proto::Team& team, std::string name, Errhandler& handler);
Comm* make_intercomm(const proto::Team& across, const proto::Team& local, Errhandler& handler);
void release(Comm& comm);
void for_each_comm(void (*visit)(Comm& comm));

} // namespace zipmpi::core
