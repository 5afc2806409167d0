// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A fair lock for readers and writers by operations of network devices, and how the ranks of the target's
// node keep it for themselves while nobody else wants it.
//
// Network side: everybody draws a ticket (fetch_add on `given`) and reads the counts in the same breath. A
// reader is in when all before it are readers that are in (readers == ticket); it then lets the next one look
// (writes readers = ticket + 1). A writer is in when all before it have left as well (both == ticket). A
// writer leaves by writing ticket + 1 to `writers` and then to `readers`: nobody comes in before the second,
// so that nobody else writes either of them meanwhile. A reader adds 1 to `writers`, by an atomic: others may
// leave with it. Atomics of the device meet no instruction of a CPU at any word.
//
// Node side (hybrid): ranks of the node take the target's FairLock first. Under it, `kept` says that the node
// holds the network's lock, so that nothing more is needed. It changes only under the exclusive FairLock:
// a rank that has taken the network's lock does not give it back after enough turns in a row, and gives it
// back when somebody waits for it there, or the target does when it is asked to. For readers of the network
// the target only opens it, under the shared FairLock: the node then keeps it as a reader among readers.
// Readers never wait for readers, so that ranks that hold the locks of many targets do not block each other.
#pragma once

#include "wire/window_layout.hpp"

namespace zipmpi::proto::rma {

// The words as a device has read them.
struct LockCounts {
    uint64_t given;
    uint64_t writers;
    uint64_t readers;
    uint64_t kept;

    [[nodiscard]] bool lets_in(uint64_t ticket, bool exclusive) const {
        return readers == ticket && (!exclusive || writers == ticket);
    }
    [[nodiscard]] uint64_t ahead(uint64_t ticket) const { return ticket - writers; }
    // The ranks of the target's node have it, perhaps without using it.
    [[nodiscard]] bool is_kept() const { return kept != 0; }
};

inline LockCounts read_counts(const wire::NetworkLock& l) {
    constexpr auto order = std::memory_order_seq_cst; // pairs with those who leave
    return {l.given.load(order), l.writers.load(order), l.readers.load(order), l.kept.load(order)};
}

// The node side; every call but at_start(), note_node() and note_request() under the FairLock.
class NodeShare {
  public:
    explicit NodeShare(wire::NetworkLock& lock)
        : l_(lock) {}

    // Before anybody uses it: kept by the node.
    void at_start() {
        l_.given.store(1, order);
        l_.kept.store(1, order);
    }
    [[nodiscard]] bool keeps() const { return l_.kept.load(order) != 0; }

    // Shared: readers of the network come in; the node goes on as a reader.
    void open() {
        if (keeps() && !is_open()) l_.readers.store(l_.kept.load(order), order);
    }
    [[nodiscard]] bool is_open() const {
        const uint64_t kept = l_.kept.load(order);
        return kept != 0 && l_.readers.load(order) >= kept;
    }
    // Exclusive: somebody else makes the node leave.
    void forget() { l_.kept.store(0, order); }

    // Exclusive, not open: the network's lock, which the node keeps, becomes free for the next one.
    void give_way() {
        const uint64_t after = l_.kept.load(order);
        leave(after - 1);
        l_.kept.store(0, order);
    }
    // Exclusive: a writer leaves, by this CPU.
    void leave(uint64_t ticket) {
        l_.writers.store(ticket + 1, order);
        l_.readers.store(ticket + 1, order);
    }
    // Exclusive, when a rank of the node unlocks while the node keeps it.
    [[nodiscard]] bool is_awaited() const { return l_.given.load(order) > l_.kept.load(order); }

    // Exclusive, when a rank of the node has had the network's lock with this ticket. True: the node keeps it
    // from now on. Else it must leave().
    bool keep(uint64_t ticket, uint32_t turns) {
        const bool in_row = l_.next_ticket.load(order) == ticket;
        const uint32_t run = in_row ? l_.node_run.load(order) + 1 : 1;
        l_.next_ticket.store(ticket + 1, order);
        l_.node_run.store(run, order);
        if (run < turns || l_.given.load(order) != ticket + 1) return false;
        l_.node_run.store(0, order);
        l_.kept.store(ticket + 1, order);
        return true;
    }

    // A rank of the node has come.
    void note_node() {
        if (l_.network_run.load(std::memory_order_relaxed) != 0) l_.network_run.store(0, order);
    }
    // A request has come. True: there were so many in a row that the network should have the lock.
    bool note_request(uint32_t turns) { return l_.network_run.fetch_add(1, order) + 1 >= turns; }

  private:
    static constexpr auto order = std::memory_order_seq_cst;
    wire::NetworkLock& l_;
};

} // namespace zipmpi::proto::rma
