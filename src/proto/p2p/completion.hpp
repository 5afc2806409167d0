// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Completion: ends operations.
#pragma once

#include "proto/p2p/node_transports.hpp"
#include "proto/p2p/operation.hpp"
#include "proto/progress/engine_lock.hpp"

namespace zipmpi::proto {

class Completion {
  public:
    Completion(NodeTransports& node, EngineLock& lock)
        : node_(node)
        , lock_(lock) {}

    // The operation may be destroyed by its callback.
    void finish(Operation& op) {
        op.complete = true;
        count(1);
        if (op.on_done != nullptr) op.on_done(op);
        lock_.wake_waiters(); // another thread may wait for it
    }
    // Operations that ended without finish(): they have no callback, and no other thread waits for them.
    void count(uint32_t operations) {
        auto& ticks = node_.recorder().progress;
        ticks.store(ticks.load(std::memory_order_relaxed) + operations, std::memory_order_relaxed);
    }
    void finish_with_error(Operation& op, Err why) {
        op.error = why;
        finish(op);
    }
    void finish_cancelled(Operation& op) {
        op.cancelled = op.error == Err::success; // else it failed
        finish(op);
    }
    [[gnu::cold]] void finish_without_memory(Operation& send);

  private:
    NodeTransports& node_;
    EngineLock& lock_;
};

} // namespace zipmpi::proto
