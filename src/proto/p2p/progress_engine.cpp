// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/progress_engine.hpp"

#include "proto/select/select.hpp"

namespace zipmpi::proto {

ProgressEngine::ProgressEngine(const segment::NodeSegment& segment, uint32_t local_index, int world_rank)
    : local_ranks_(segment.local_ranks())
    , fault_generation_(segment.fault_state().generation)
    , shm_(segment, local_index)
    , cma_(segment, local_index)
    , arena_(segment, local_index)
    , peer_thresholds_(segment, local_index)
    , cma_heuristics_(segment.local_ranks())
    , skew_buffer_(segment.local_ranks())
    , rts_policy_(segment.local_ranks())
    , layout_rts_policy_(segment.local_ranks())
    , matcher_(ExpectedPeers(shm_))
    , table_(ExpectedPeers(shm_))
    , pending_of_peer_(segment.local_ranks())
    , full_in_pass_(segment.local_ranks())
    , world_rank_(world_rank)
    , usable_cpus_(segment.header().usable_cpus)
    , traffic_(segment, local_index)
    , traffic_of_peer_(segment.local_ranks()) {
    matcher_.set_counters(counters());
}

const IncomingMessage* ProgressEngine::probe(uint32_t context, int source, int tag) {
    const UnexpectedMessage* u = matcher_.find_unexpected(context, source, tag);
    return u != nullptr ? &u->message : nullptr;
}

const IncomingMessage* ProgressEngine::near_miss(const Operation& recv) const {
    const int from = recv.source == any_source ? 0 : shm_.peer_of(recv.world_peer);
    return from < 0 ? nullptr : matcher_.near_miss(recv, static_cast<transport::Peer>(from));
}

int ProgressEngine::progress() {
    int happened = shm_.poll([this](const transport::Arrival& a) { handle_arrival(a); });
    if (network_ != nullptr) happened += poll_network(happened != 0);
    if (!pending_.empty()) happened += send_pending();
    if (!pipelined_sends_.empty()) happened += push_pipelined_sends();
    if (!deferred_.empty()) happened += run_deferred();
    if (active_coop_copies_ != 0) happened += poll_coop_copies();
    if (!hooks_.empty()) happened += poll_hooks();
    return happened;
}

int ProgressEngine::poll_hooks() {
    int happened = 0;
    for (ProgressHook* hook = hooks_.first(); hook != nullptr;) {
        ProgressHook* const next = hook->next;
        happened += hook->poll(*hook);
        hook = next;
    }
    return happened;
}

int ProgressEngine::run_deferred() {
    int happened = 0;
    while (DeferredTask* task = deferred_.first()) {
        cancel_deferred(*task);
        task->run(*task); // may destroy the task and defer others
        ++happened;
    }
    return happened;
}

void ProgressEngine::finish_without_memory(Operation& send) {
    send.error =
        fail(Err::no_mem, "free memory on this host or start fewer ranks",
             "shared memory for messages to rank %d of MPI_COMM_WORLD is exhausted", send.world_peer);
    finish(send);
}

void ProgressEngine::abandon_recv(Operation& op) {
    if (op.network_owned) { // the network writes to the buffer: wait for it
        op.on_done = nullptr;
        while (!op.complete) progress_all();
        return;
    }
    if (active_coop_copies_ != 0) abandon_coop_copy(op);
    if (op.own_id != 0)
        table_.remove(op);
    else
        matcher_.unpost(op);
    op.complete = true;
}

void ProgressEngine::finish(Operation& op) {
    op.complete = true;
    auto& ticks = recorder().progress;
    ticks.store(ticks.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (op.on_done != nullptr) op.on_done(op);
    wake_waiters(); // another thread may wait for it
}

} // namespace zipmpi::proto
