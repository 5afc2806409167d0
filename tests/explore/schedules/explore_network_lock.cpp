// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A hybrid lock, held by its node at first: a rank of the node takes it twice, a writer and a reader of other
// nodes once each, and ask the target to release or to open it. Writers exclude all others, and all get it.
#include "proto/rma/network_lock.hpp"
#include "schedules.hpp"

using namespace zipmpi;
using proto::rma::HybridLockNode;
using proto::rma::LockMode;

namespace {

constexpr uint32_t node_turns = 1; // until the node keeps the network lock

struct Window {
    wire::NetworkLock words{};
    explore::Mutex node_lock; // TicketRwLock of the target
    std::atomic<uint32_t> asked_by_writer{0};
    std::atomic<uint32_t> asked_by_reader{0};
    std::atomic<uint32_t> remote_ends{0};
    int writers_inside = 0;
    int readers_inside = 0;
};

void use(Window& w, LockMode mode) {
    int& inside = mode == LockMode::shared ? w.readers_inside : w.writers_inside;
    ++inside;
    const auto excluded = [&w] {
        return w.writers_inside == 0 || (w.writers_inside == 1 && w.readers_inside == 0);
    };
    explore::require(excluded(), "a writer is not alone");
    explore::point();
    explore::require(excluded(), "a writer is not alone");
    --inside;
}

// As RdmaLocks::lock_local() and unlock_local().
void rank_of_node(Window& w, int rounds) {
    HybridLockNode node(w.words);
    for (int i = 0; i < rounds; ++i) {
        w.node_lock.lock();
        node.reset_request_count();
        if (node.is_open_to_readers()) { // release_as_reader()
            node.clear_node_ticket();
            w.words.writers.fetch_add(1);
        }
        const bool by_node = node.holds();
        uint64_t ticket = 0;
        if (!by_node) {
            ticket = w.words.tickets_issued.fetch_add(1);
            explore::wait_until([&w, ticket] {
                return proto::rma::read_lock_state(w.words).can_enter(ticket, LockMode::exclusive);
            });
        }
        use(w, LockMode::exclusive);
        if (by_node) {
            if (node.has_waiters()) node.yield();
        } else if (!node.try_hold(ticket, node_turns)) {
            node.release(ticket);
        }
        w.node_lock.unlock();
    }
}

// As RdmaLocks::lock_by_network() and unlock_by_network().
void rank_of_other_node(Window& w, LockMode mode) {
    std::atomic<uint32_t>& ask = mode == LockMode::shared ? w.asked_by_reader : w.asked_by_writer;
    const uint64_t ticket = w.words.tickets_issued.fetch_add(1);
    bool asked = false;
    const auto can_enter = [&] { return proto::rma::read_lock_state(w.words).can_enter(ticket, mode); };
    while (!can_enter()) {
        explore::wait_until(
            [&] { return can_enter() || (!asked && proto::rma::read_lock_state(w.words).is_node_held()); });
        if (!can_enter() && !std::exchange(asked, true)) ask.store(1, std::memory_order_seq_cst);
    }
    if (mode == LockMode::shared) w.words.readers.store(ticket + 1, std::memory_order_seq_cst);
    use(w, mode);
    if (mode == LockMode::shared)
        w.words.writers.fetch_add(1);
    else
        HybridLockNode(w.words).release(ticket);
    w.remote_ends.fetch_add(1);
}

// As LockService::on_granted().
void target(Window& w, uint32_t remote_ranks) {
    HybridLockNode node(w.words);
    const auto has_request = [&w] { return w.asked_by_writer.load() + w.asked_by_reader.load() != 0; };
    for (;;) {
        explore::wait_until([&] { return has_request() || w.remote_ends.load() == remote_ranks; });
        if (!has_request()) return;
        w.node_lock.lock();
        if (w.asked_by_reader.exchange(0) != 0) {
            node.open_to_readers();
        } else if (w.asked_by_writer.exchange(0) != 0) {
            if (node.is_open_to_readers()) {
                node.clear_node_ticket();
                w.words.writers.fetch_add(1);
            } else if (node.holds()) {
                node.yield();
            }
        }
        w.node_lock.unlock();
    }
}

} // namespace

int main() {
    const std::vector<LockMode> cases[] = {
        {LockMode::exclusive}, {LockMode::shared}, {LockMode::exclusive, LockMode::shared}};
    for (const std::vector<LockMode>& remote : cases) {
        const auto make = [&remote] {
            const auto w = std::make_shared<Window>();
            HybridLockNode(w->words).init();
            explore::Threads threads;
            threads.emplace_back([w] { rank_of_node(*w, 2); });
            for (const LockMode mode : remote)
                threads.emplace_back([w, mode] { rank_of_other_node(*w, mode); });
            threads.emplace_back([w, &remote] { target(*w, static_cast<uint32_t>(remote.size())); });
            return threads;
        };
        const int preemptions = remote.size() == 1 ? 2 : 1;
        if (explore::report("network_lock", explore::explore({preemptions, 0, 0}, make)) != 0) return 1;
    }
    return 0;
}
