// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/lane.hpp"

#include "proto/select/select.hpp"

namespace zipmpi::proto {

Lane::Lane(const boot::NodeSegment& segment, uint32_t local_index, int world_rank)
    : local_ranks_(segment.local_ranks())
    , news_(segment.news().number)
    , shm_(segment, local_index)
    , kcopy_(segment, local_index)
    , arena_(segment, local_index)
    , choice_(segment, local_index)
    , sense_(segment.local_ranks())
    , skew_(segment.local_ranks())
    , asking_(segment.local_ranks())
    , noting_(segment.local_ranks())
    , matcher_(Expecting(shm_))
    , table_(Expecting(shm_))
    , pending_of_peer_(segment.local_ranks())
    , full_in_pass_(segment.local_ranks())
    , world_rank_(world_rank)
    , usable_cpus_(segment.header().usable_cpus)
    , traffic_(segment, local_index)
    , traffic_of_peer_(segment.local_ranks()) {
    matcher_.show_waiting_in(counters());
}

const Incoming* Lane::probe(uint32_t context, int source, int tag) {
    const Unexpected* u = matcher_.find_unexpected(context, source, tag);
    return u != nullptr ? &u->message : nullptr;
}

const Incoming* Lane::near_miss(const Operation& recv) const {
    const int from = recv.source == any_source ? 0 : shm_.reach(recv.world_peer);
    return from < 0 ? nullptr : matcher_.near_miss(recv, static_cast<transport::Peer>(from));
}

int Lane::progress() {
    int happened = shm_.poll([this](const transport::Arrival& a) { arrived(a); });
    if (network_ != nullptr) happened += poll_network(happened != 0);
    if (!pending_.empty()) happened += send_pending();
    if (!streams_.empty()) happened += push_streams();
    if (!deferred_.empty()) happened += run_deferred();
    if (joint_under_way_ != 0) happened += look_at_joint_copies();
    if (!watchers_.empty()) happened += look_at_watchers();
    return happened;
}

int Lane::look_at_watchers() {
    int happened = 0;
    for (Watcher* w = watchers_.first(); w != nullptr;) {
        Watcher* const next = w->next;
        happened += w->look(*w);
        w = next;
    }
    return happened;
}

int Lane::run_deferred() {
    int happened = 0;
    while (Deferred* work = deferred_.first()) {
        forget(*work);
        work->run(*work); // may be gone afterwards, and may have deferred others
        ++happened;
    }
    return happened;
}

void Lane::finish_without_memory(Operation& send) {
    send.error = fail(Err::no_mem, "free memory on this host or start fewer ranks",
                      "no shared memory is left for messages to rank %d of MPI_COMM_WORLD", send.world_peer);
    finish(send);
}

void Lane::give_up_recv(Operation& op) {
    if (op.in_network) { // its memory cannot be taken back: all of it comes soon
        op.on_done = nullptr;
        while (!op.complete) progress_all();
        return;
    }
    if (joint_under_way_ != 0) abandon_joint(op);
    if (op.own_id != 0)
        table_.remove(op);
    else
        matcher_.withdraw(op);
    op.complete = true;
}

void Lane::finish(Operation& op) {
    op.complete = true;
    auto& ticks = recorder().progress;
    ticks.store(ticks.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (op.on_done != nullptr) op.on_done(op);
    wake_threads(); // the operation may be another thread's
}

} // namespace zipmpi::proto
