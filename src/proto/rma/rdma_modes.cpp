// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/rdma_modes.hpp"

#include "base/param.hpp"
#include "proto/coll/coll.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "proto/rma/network_lock.hpp"

#include <algorithm>
#include <set>

namespace zipmpi::proto::rma {
namespace {

Param<std::string> lock_kind{
    "rma.lock_mode",
    "auto",
    "auto|cpu|network|hybrid",
    Level::tuner,
    Scope::job_wide,
    "window locks on RDMA windows: cpu (at the target), network (RDMA atomics), hybrid (migrates between "
    "the two) or auto (network if no two members share a node, else hybrid)"};
Param<int64_t> lock_turns{"rma.hybrid_lock_turns",
                          4,
                          {1, 1 << 20},
                          Unit::none,
                          Level::tuner,
                          Scope::job_wide,
                          "consecutive acquisitions by the other side before a hybrid lock migrates"};
Param<std::string> atomics_kind{
    "rma.atomics",
    "auto",
    "auto|cpu|network",
    Level::tuner,
    Scope::job_wide,
    "where accumulates of 64-bit integers on RDMA windows execute: cpu (at the target), network (RDMA "
    "atomics) or auto (both if the device is coherent with CPU atomics, else cpu)"};

WindowPolicy::Locks locks_by_parameter() {
    using Locks = WindowPolicy::Locks;
    if (lock_kind.get() == "cpu") return Locks::cpu;
    if (lock_kind.get() == "network") return Locks::network;
    return lock_kind.get() == "hybrid" ? Locks::hybrid : Locks::automatic;
}

// The choice is equal on all members. `auto` never makes an origin wait for the program of a target for long:
// members of a node combine their requests by the lock of the node, which hybrid locks take first.
RdmaModes::Locks choose_locks(const Team& team, const WindowPolicy& policy) {
    using Locks = WindowPolicy::Locks;
    if (policy.passive == WindowPolicy::Passive::none) return RdmaModes::Locks::cpu;
    const Locks wanted = policy.locks != Locks::automatic ? policy.locks : locks_by_parameter();
    if (wanted == Locks::cpu) return RdmaModes::Locks::cpu;
    if (wanted == Locks::network) return RdmaModes::Locks::network;
    if (wanted == Locks::hybrid) return RdmaModes::Locks::hybrid;
    std::set<int> nodes;
    for (int r = 0; r < team.size; ++r) nodes.insert(team.engine->peers().node_of(team.map.world(r)));
    return nodes.size() == static_cast<size_t>(team.size) ? RdmaModes::Locks::network
                                                          : RdmaModes::Locks::hybrid;
}

} // namespace

Err agree_on_rdma(const TargetTable& targets, const WindowPolicy& policy, RdmaKeyTable& keys,
                  RdmaModes& modes) {
    Team& team = targets.team();
    wire::NetworkLock& own_lock = targets.own_member().network_lock;
    modes.handover_count =
        policy.lock_turns != 0 ? policy.lock_turns : static_cast<uint32_t>(lock_turns.get());
    modes.locks = choose_locks(team, policy);
    if (modes.locks == RdmaModes::Locks::hybrid) HybridLockNode(own_lock).init();
    keys.register_memory(team.rank, targets.own_region(), targets.own_member());
    auto& all = keys.published();
    if (const Err e = coll::allgather(team, all.data(), sizeof(wire::RmaKeys)); e != Err::success) return e;
    modes.usable = std::ranges::all_of(all, [](const wire::RmaKeys& k) { return k.usable != 0; });
    if (!modes.usable) return Err::success;
    const bool coherent = std::ranges::all_of(all, [](const wire::RmaKeys& k) { return k.coherent != 0; });
    modes.ordered = std::ranges::all_of(all, [](const wire::RmaKeys& k) { return k.ordered != 0; });
    modes.put_get = !targets.is_dynamic();
    if (modes.put_get && atomics_kind.get() == "network")
        modes.atomics = RdmaModes::Atomics::network;
    else if (modes.put_get && atomics_kind.get() == "auto" && coherent)
        modes.atomics = RdmaModes::Atomics::mixed;
    return Err::success;
}

} // namespace zipmpi::proto::rma
