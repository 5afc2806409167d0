// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Network lock: a FIFO readers–writer ticket lock by RDMA operations, and its hybrid mode, in which the
// target's node keeps the lock while no remote rank requests it.
//
// Network side: an origin draws a ticket (fetch_add on `tickets_issued`) and reads the counts, both in one
// flush. A reader enters when all earlier tickets are readers that have entered (readers == ticket); it then
// admits the next ticket (writes readers = ticket + 1). A writer enters when all earlier tickets have left as
// well (both == ticket). A writer leaves by writing ticket + 1 to `writers` and then to `readers`: no process
// enters before the second store, so there is no concurrent writer of either word. A reader leaves by an
// atomic add of 1 to `writers`, since readers may leave concurrently. An RDMA atomic never runs concurrently
// with a CPU store to the same word, so the device need not be coherent with CPU atomics.
//
// Node side (hybrid): ranks of the node take the target's TicketRwLock first. Under it, `node_ticket` != 0
// means that the node holds the network lock, and nothing more is needed. It changes only under the exclusive
// TicketRwLock: after enough consecutive turns a rank of the node keeps the network lock on release; a rank
// of the node returns it when a remote rank waits, or the target does so on request. For remote readers the
// target only opens the lock, under the shared TicketRwLock: the node then holds it as one of the readers.
// Readers never wait for readers, so that ranks that hold the locks of many targets do not block each other.
#pragma once

#include "proto/rma/lock.hpp"
#include "wire/window_layout.hpp"

namespace zipmpi::proto::rma {

// Lock words as read by RDMA.
struct RemoteLockState {
    uint64_t tickets_issued;
    uint64_t writers;
    uint64_t readers;
    uint64_t node_ticket;

    [[nodiscard]] bool can_enter(uint64_t ticket, LockMode mode) const {
        return readers == ticket && (mode == LockMode::shared || writers == ticket);
    }
    [[nodiscard]] uint64_t tickets_ahead(uint64_t ticket) const { return ticket - writers; }
    // The target's node holds the network lock, possibly without using it.
    [[nodiscard]] bool is_node_held() const { return node_ticket != 0; }
};

inline RemoteLockState read_lock_state(const wire::NetworkLock& l) {
    constexpr auto order = std::memory_order_seq_cst; // pairs with the stores of leaving processes
    return {l.tickets_issued.load(order), l.writers.load(order), l.readers.load(order),
            l.node_ticket.load(order)};
}

// Node side of a hybrid lock. All calls except init(), reset_request_count() and count_request() require the
// TicketRwLock, exclusive or shared as stated.
class HybridLockNode {
  public:
    explicit HybridLockNode(wire::NetworkLock& lock)
        : l_(lock) {}

    // Before first use: held by the node.
    void init() {
        l_.tickets_issued.store(1, order);
        l_.node_ticket.store(1, order);
    }
    [[nodiscard]] bool holds() const { return l_.node_ticket.load(order) != 0; }

    // Shared: admits remote readers; the node continues as a reader.
    void open_to_readers() {
        if (holds() && !is_open_to_readers()) l_.readers.store(l_.node_ticket.load(order), order);
    }
    [[nodiscard]] bool is_open_to_readers() const {
        const uint64_t kept = l_.node_ticket.load(order);
        return kept != 0 && l_.readers.load(order) >= kept;
    }
    // Exclusive: the caller releases the network lock for the node.
    void clear_node_ticket() { l_.node_ticket.store(0, order); }

    // Exclusive, not open to readers: releases the network lock held by the node.
    void yield() {
        const uint64_t after = l_.node_ticket.load(order);
        release(after - 1);
        l_.node_ticket.store(0, order);
    }
    // Exclusive: a writer leaves, by CPU stores.
    void release(uint64_t ticket) {
        l_.writers.store(ticket + 1, order);
        l_.readers.store(ticket + 1, order);
    }
    // Exclusive, at unlock while the node holds the network lock: a remote rank waits for it.
    [[nodiscard]] bool has_waiters() const {
        return l_.tickets_issued.load(order) > l_.node_ticket.load(order);
    }

    // Exclusive, when a rank of the node leaves the network lock with this ticket. Returns true if the node
    // holds it from now on; otherwise the caller must release it.
    bool try_hold(uint64_t ticket, uint32_t turns) {
        const bool in_row = l_.next_ticket.load(order) == ticket;
        const uint32_t run = in_row ? l_.node_run.load(order) + 1 : 1;
        l_.next_ticket.store(ticket + 1, order);
        l_.node_run.store(run, order);
        if (run < turns || l_.tickets_issued.load(order) != ticket + 1) return false;
        l_.node_run.store(0, order);
        l_.node_ticket.store(ticket + 1, order);
        return true;
    }

    // A rank of the node takes the lock.
    void reset_request_count() {
        if (l_.network_run.load(std::memory_order_relaxed) != 0) l_.network_run.store(0, order);
    }
    // A remote request has arrived. Returns true after `turns` consecutive ones: the lock should migrate.
    bool count_request(uint32_t turns) { return l_.network_run.fetch_add(1, order) + 1 >= turns; }

  private:
    static constexpr auto order = std::memory_order_seq_cst;
    wire::NetworkLock& l_;
};

} // namespace zipmpi::proto::rma
