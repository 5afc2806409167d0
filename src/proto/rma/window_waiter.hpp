// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Waits of a window for its other members. The waited-for rank makes the condition true with a seq_cst store
// and then checks for sleepers, or sends a message. A wait also ends when that rank has failed; the error is
// reported by the call that synchronizes.
//
// Threads: under the lock of the progress engine, which a wait releases while it sleeps.
#pragma once

#include "proto/progress/wait.hpp"
#include "proto/rma/deferred_error.hpp"
#include "proto/team.hpp"

namespace zipmpi::proto::rma {

class WindowWaiter {
  public:
    WindowWaiter(const Team& team, DeferredError& failure)
        : team_(team)
        , failure_(failure)
        , operation_(make_recv(team, nullptr, 0, team.rank, 0)) {}

    // Waits until condition() is true, or `peer` has failed (-1: any member). Returns false after a failure.
    // Reports show the peer; -1: several.
    template <class Condition>
    bool await(const Condition& condition, int peer) {
        return await(condition, peer, [this, peer] { return failure_of(peer); });
    }
    // As above, with failed() instead of the failure of the peer.
    template <class Condition, class Failed>
    bool await(const Condition& condition, int peer, const Failed& failed) {
        if (condition()) return true;
        Operation operation = operation_;
        set_peer(operation, peer);
        WaitInfo info = wait_info_of(operation);
        const auto over = [condition, failed] { return condition() || failed() != Err::success; };
        auto last = over;
        info.final_check = [](void* waiter) { return (*static_cast<const decltype(last)*>(waiter))(); };
        info.waiter = &last;
        wait_until(*team_.engine, over, info);
        if (condition()) return true;
        failure_.set(failed());
        return false;
    }
    // Success, or why nothing more can be expected of a member (-1: of all members).
    [[nodiscard]] Err failure_of(int peer) const {
        const FaultMonitor& faults = team_.engine->faults();
        return peer < 0 ? faults.comm_failure(team_.context)
                        : faults.source_failure(team_.context, peer, team_.map.world(peer));
    }
    // A lock cannot be acquired: its holder may be a failed member.
    void on_lock_failed() { failure_.set(failure_of(-1)); }
    // An operation that shows a wait for `peer` in reports; valid until the next call.
    const Operation& operation_to(int peer) {
        set_peer(operation_, peer);
        return operation_;
    }

  private:
    void set_peer(Operation& operation, int peer) const {
        operation.peer = operation.source = peer;
        operation.world_peer = peer >= 0 ? team_.map.world(peer) : -1;
    }

    const Team& team_;
    DeferredError& failure_;
    Operation operation_;
};

} // namespace zipmpi::proto::rma
