// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/progress_engine.hpp"

namespace zipmpi::proto {

ProgressEngine::ProgressEngine(const segment::NodeSegment& segment, uint32_t local_index, int world_rank)
    : node_(segment, local_index)
    , lock_(node_.shm, hooks_)
    , wait_tuning_(node_.shm)
    , peers_(node_.shm, world_rank)
    , completion_(node_, lock_)
    , table_(ExpectedPeers(node_.shm))
    , network_(peers_)
    , control_(node_.shm, network_, peers_)
    , paths_(node_, local_index, wait_tuning_)
    , receiver_(node_, lock_, network_, control_, paths_, table_, completion_)
    , sender_(node_, peers_, network_, control_, paths_, table_, completion_, receiver_)
    , cancellation_(peers_, network_, control_, table_, receiver_.matcher(), sender_.remote(), completion_)
    , network_events_(peers_, network_, control_.queue(), table_, receiver_, sender_, cancellation_,
                      completion_)
    , faults_(node_, peers_, network_, control_.queue(), table_, receiver_, sender_.rendezvous(),
              cancellation_, completion_) {}

int ProgressEngine::progress() {
    int happened = node_.shm.poll([this](const transport::Arrival& a) {
        if (a.envelope.kind == wire::MessageKind::eager) [[likely]]
            return receiver_.on_eager(a);
        dispatcher().dispatch(a);
    });
    happened += network_.poll(happened != 0);
    happened += sender_.retry_queued([this](transport::Peer peer) { return faults_.is_failed(peer); });
    happened += sender_.rendezvous().push_fragments();
    happened += hooks_.run_deferred();
    happened += receiver_.rendezvous().coop().poll();
    happened += hooks_.poll();
    return happened;
}

const IncomingMessage* ProgressEngine::probe(uint32_t context, int source, int tag) {
    const UnexpectedMessage* u = receiver_.matcher().unexpected().find(context, source, tag);
    return u != nullptr ? &u->message : nullptr;
}

UnexpectedMessage* ProgressEngine::extract(uint32_t context, int source, int tag) {
    UnexpectedMessage* u = receiver_.matcher().unexpected().find(context, source, tag);
    if (u != nullptr) receiver_.matcher().unexpected().extract(*u);
    return u;
}

void ProgressEngine::recv_extracted(Operation& op, UnexpectedMessage& message) {
    receiver_.accept(op, message.message);
    receiver_.matcher().unexpected().release(message);
}

void ProgressEngine::drop_unexpected(uint32_t context) {
    // Also messages that are still in a ring.
    node_.shm.poll_all([this](const transport::Arrival& a) { dispatcher().dispatch(a); });
    receiver_.matcher().unexpected().discard_if(context, [](const IncomingMessage& m) {
        return m.local_send == nullptr && Cancellation::sender_operation(m) == 0;
    });
}

void ProgressEngine::abandon_recv(Operation& op) {
    if (op.network_owned) { // the network writes to the buffer: wait for it
        op.on_done = nullptr;
        while (!op.complete) progress_all();
        return;
    }
    receiver_.rendezvous().coop().abandon(op);
    if (op.own_id != 0)
        table_.remove(op);
    else
        receiver_.matcher().unpost(op);
    op.complete = true;
}

} // namespace zipmpi::proto
