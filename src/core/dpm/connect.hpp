// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Communicators with processes of other jobs: spawned, parent, or connected through a port
// (docs/decisions/0032). A process identifies external processes by local ids; processes exchange contact
// information (transport/stream/contact_info.hpp).
#pragma once

#include "base/diagnostic.hpp"
#include "core/comm/comm.hpp"
#include "transport/stream/contact_info.hpp"

#include <functional>
#include <vector>

namespace zipmpi::core {

struct Runtime;

using Contacts = std::vector<transport::stream::ContactInfo>;

// A total order of processes that is identical on all processes; within a job it is the rank order.
bool precedes(int world_rank, int other);

// Members in other jobs count as connected until their communicators are disconnected.
void retain_external(const proto::Team& team);
void release_external(const proto::Team& team);

// Gathers the contact information of all members. From then on this process accepts connections from other
// jobs.
Err gather_contacts(proto::Team& team, Contacts& contacts);
// What the root of another group states; false: it cannot be true.
bool is_valid_remote_group(const Contacts& own, const Contacts& remote);
bool is_valid_shared_context(uint32_t context);
// Registers processes that authenticate with `key` under their contact information. Returns their local ids.
std::vector<int> register_contacts(const Contacts& contacts, const std::string& key);

// Data that two groups of different jobs agree on.
struct ConnectInfo {
    Contacts remote_contacts;
    std::string key;
    uint32_t context = 0;
};
// Called in the root: exchanges contact information with the root of the other group.
using RootExchange = std::function<Err(const Contacts& own_contacts, ConnectInfo& connect_info)>;
// The intercommunicator with the group of the root that the root of `comm` connects to. Collective on comm.
Err connect_groups(Comm& comm, int root, const RootExchange& exchange, Comm*& result);

// Connects to the parent job, if this job was spawned. Returns false if the parents cannot be reached.
bool connect_parent(Runtime& e, Diagnostic& why);

void unpublish_all(); // names that this process has published and not unpublished

} // namespace zipmpi::core
