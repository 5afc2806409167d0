// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Lock of this rank's memory for origins that request it by active message. With hybrid locks a grant states
// whether the origin holds the lock or must acquire it on the network.
//
// Threads: under the lock of the progress engine.
#pragma once

#include "proto/rma/lock.hpp"
#include "proto/rma/target_table.hpp"
#include "wire/rma_layout.hpp"

#include <optional>
#include <utility>

namespace zipmpi::proto::rma {

class RdmaLocks;

// The lock that an origin holds or waits for.
struct RequestedLock {
    std::optional<LockMode> held;
    std::optional<LockMode> awaited; // with this ticket
    uint16_t ticket = 0;
    bool abandoned = false; // held without the turn of the ticket
    // Hybrid locks: actions when the lock is granted.
    bool yields = false;      // hand it over to the network
    bool wants_reply = false; // send a reply with this id
    uint32_t reply_id = 0;
};

class LockService {
  public:
    enum class Result : uint8_t { granted, waiting, invalid };

    explicit LockService(const TargetTable& targets)
        : targets_(targets) {}
    void serve_hybrid(RdmaLocks& locks) { hybrid_ = &locks; }

    // A lock request. If granted, on_granted() must follow.
    Result request(RequestedLock& lock, const wire::RmaRequest& head);
    // Polls for an awaited lock. If granted, on_granted() must follow.
    TicketRwLock::Turn poll(RequestedLock& lock);
    // Returns the content of the reply: 1 if the origin holds the lock; none if it wants no reply.
    std::optional<uint64_t> on_granted(RequestedLock& lock);
    void release(RequestedLock& lock);
    // The turn of an awaited lock may not come. The origin continues as if it held the lock.
    static void abandon(RequestedLock& lock) {
        lock.held = std::exchange(lock.awaited, std::nullopt);
        lock.abandoned = true;
    }

  private:
    Result draw_ticket(RequestedLock& lock, LockMode mode);

    const TargetTable& targets_;
    RdmaLocks* hybrid_ = nullptr; // null: locks are not hybrid
};

} // namespace zipmpi::proto::rma
