// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/coll/selection_input.hpp"

#include "base/param.hpp"
#include "proto/coll/collective.hpp"
#include "proto/coll/select.hpp"

namespace zipmpi::proto::coll {
namespace {

Param<bool> reproducible_param{
    "coll.reproducible", false, Level::user, Scope::job_wide,
    "bitwise reproducible reductions, independent of placement and algorithm; slower for nonblocking and "
    "inter-node calls"};
Param<bool> use_coll_buffers{"coll.shm", true, Level::user, Scope::job_wide,
                             "use shared memory for blocking collectives within a node"};
Param<int64_t> first_by_messages{"coll.shm_after",
                                 4,
                                 {0, 1000000000},
                                 Unit::none,
                                 Level::tuner,
                                 Scope::job_wide,
                                 "collectives on a communicator before shared buffers are allocated"};

// Among more ranks, messages of collectives would take more memory than a collective buffer: each rank opens
// rings to log2(n) peers.
constexpr int many_ranks = 256;

// The first collectives on a communicator use messages: many communicators see no more, and messages detect
// ranks that call different collectives.
bool uses_coll_buffers(const Collective& c, const Team& t) {
    return c.may_block() && t.size >= 2 && use_coll_buffers &&
           (t.size > many_ranks || t.collectives > static_cast<uint32_t>(first_by_messages.get()));
}

} // namespace

bool reproducible_reductions() { return reproducible_param; }

TeamShape::TeamShape(const Collective& c, Team& t)
    : hierarchy(nullptr)
    , placement(placement_of(t))
    , scope(t.scope)
    , reproducible(reproducible_reductions())
    , coll_buffer(placement == TeamPlacement::single_node && uses_coll_buffers(c, t))
    , cma(coll_buffer) {
    if (placement == TeamPlacement::mixed) hierarchy = hierarchy_of(t);
}

const char* selected_algorithm(CollFunction f, const SelectionInput& in) {
    const char* name = selected_reduction(f, in);
    if (name == nullptr) name = selected_movement(f, in);
    return name != nullptr ? name : selected_block_exchange(f, in);
}

} // namespace zipmpi::proto::coll
