// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Communicators with processes of other jobs ("worlds"): those that this one has started, or was started by,
// or has met at a port. docs/decisions/0032 says how. A process knows others by numbers of its own; what
// travels are their cards (worlds/card.hpp).
#pragma once

#include "base/problem.hpp"
#include "core/comm/comm.hpp"
#include "worlds/card.hpp"

#include <functional>
#include <vector>

namespace zipmpi::core {

struct Engine;

using Cards = std::vector<worlds::Card>;

// An order of processes that is the same everywhere; within a job that of ranks.
bool goes_before(int world_rank, int other);

// Members in other jobs are counted as connected until their communicators are disconnected.
void hold_foreign(const proto::Team& team);
void let_go_foreign(const proto::Team& team);

// The cards of all members. From now on this process answers other jobs.
Err gather_cards(proto::Team& team, Cards& cards);
// Processes that prove to have the key are who their cards say. Their numbers here.
std::vector<int> introduce(const Cards& cards, const std::string& key);

// What two groups of different jobs need to agree on.
struct Deal {
    Cards there;
    std::string key;
    uint32_t context = 0;
};
// In the root: exchanges cards with the root of the other group.
using Talk = std::function<Err(const Cards& own, Deal& deal)>;
// The intercommunicator with the group that the root of `comm` talks with. Collective on comm.
Err meet(Comm& comm, int root, const Talk& talk, Comm*& result);

// With those who have started this job, if somebody has. False: they cannot be reached.
bool meet_parents(Engine& e, Problem& why);

void withdraw_names(); // that this process has published and not taken back

} // namespace zipmpi::core
