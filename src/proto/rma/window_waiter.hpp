// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Waits of a window for its other members. The waited-for rank makes the condition true with a seq_cst store
// and then checks for sleepers, or sends a message.
//
// Threads: under the lock of the progress engine, which a wait releases while it sleeps.
#pragma once

#include "proto/progress/wait.hpp"
#include "proto/team.hpp"

namespace zipmpi::proto::rma {

class WindowWaiter {
  public:
    explicit WindowWaiter(const Team& team)
        : team_(team)
        , operation_(make_recv(team, nullptr, 0, team.rank, 0)) {}

    // Waits until condition() is true. peer: the rank shown in reports; -1: several.
    template <class Condition>
    void await(const Condition& condition, int peer) {
        if (condition()) return;
        Operation operation = operation_;
        set_peer(operation, peer);
        WaitInfo info = wait_info_of(operation);
        Condition last = condition;
        info.final_check = [](void* waiter) { return (*static_cast<const Condition*>(waiter))(); };
        info.waiter = &last;
        wait_until(*team_.engine, condition, info);
    }
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
    Operation operation_;
};

} // namespace zipmpi::proto::rma
