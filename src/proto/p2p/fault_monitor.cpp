// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/fault_monitor.hpp"

namespace zipmpi::proto {
namespace {

Err rank_failure(int world_rank) {
    if (wire::is_external(world_rank))
        return fail(Err::proc_failed, "see the output of that program and of its mpiexec for the cause",
                    "a connected process of another job has failed");
    return fail(
        Err::proc_failed,
        "continue without it: call MPIX_Comm_revoke, then MPIX_Comm_shrink for a communicator of the others",
        "rank %d of MPI_COMM_WORLD has failed", world_rank);
}

Err comm_error(Err why) {
    if (why == Err::revoked)
        return fail(Err::revoked, "create a communicator of the surviving ranks with MPIX_Comm_shrink",
                    "a member has revoked the communicator");
    return fail(why, "revoke the communicator and continue with one created by MPIX_Comm_shrink",
                "a member of the communicator has failed");
}

bool is_collective(uint32_t context) { return (context & 1U) != 0 && (context & partitioned_context) == 0; }

} // namespace

int FaultMonitor::process() {
    const segment::NodeSegment& segment = node_.shm.segment();
    const wire::FaultState& state = segment.faults().state();
    int happened = 0;
    if (const uint32_t now = generation_.load(std::memory_order_seq_cst); now != table_.generation) {
        table_.generation = now;
        for (const uint32_t n = state.failed.load(std::memory_order_acquire); table_.failed_seen < n;)
            fail_peer(segment.faults().failed_rank(table_.failed_seen++));
        for (const uint32_t n = state.revoked.load(std::memory_order_acquire); table_.revoked_seen < n;) {
            table_.comm_errors[segment.faults().revoked_context(table_.revoked_seen++)] = Err::revoked;
            table_.any = true;
        }
        if (table_.on_fault != nullptr && table_.any) table_.on_fault();
        if (table_.on_agreements != nullptr) happened = table_.on_agreements();
        // Counts as an event: it may end a wait without an operation, such as for flags of a collective.
        if (table_.any) ++happened;
    }
    if (!table_.any) return happened;
    return happened + fail_queued() + fail_posted() + fail_awaiting_reply() + fail_pipelined() +
           fail_self_sends();
}

// From now on sends to the peer take the slow path, where they fail.
void FaultMonitor::fail_peer(int world_rank) {
    if (!table_.failed_ranks.insert(world_rank).second) return;
    table_.any = true;
    node_.events.raise(EventType::rank_failed, world_rank);
    if (const int local = node_.shm.peer_of(world_rank); local >= 0) {
        const auto peer = static_cast<transport::Peer>(local);
        queue_.block(peer);
        node_.shm.reclaim_cells(peer);
        node_.shm.receive_rings().force_poll(peer); // reads what it had sent before
    } else if (network_.get() != nullptr) {
        network_.get()->fail_peer(world_rank);
    }
}

void FaultMonitor::fail_external(int world_rank) {
    if (!table_.failed_ranks.insert(world_rank).second) return;
    table_.any = true;
    if (table_.on_fault != nullptr) table_.on_fault();
}

int FaultMonitor::rank_of(transport::Peer peer) const {
    return peers_.is_remote(peer) ? network_.rank_of(peer) : node_.shm.segment().world_rank(peer);
}

bool FaultMonitor::is_in_table(transport::Peer peer) const {
    return table_.failed_ranks.count(rank_of(peer)) != 0;
}

Err FaultMonitor::find_comm_failure(uint32_t context) const {
    const auto found = table_.comm_errors.find(FaultTable::comm_key(context));
    return found != table_.comm_errors.end() ? comm_error(found->second) : Err::success;
}

Err FaultMonitor::find_source_failure(uint32_t context, int source, int world_source) const {
    if (source != any_source && table_.failed_ranks.count(world_source) != 0)
        return rank_failure(world_source);
    const auto found = table_.comm_errors.find(FaultTable::comm_key(context));
    if (found != table_.comm_errors.end() && (found->second == Err::revoked || is_collective(context)))
        return comm_error(found->second);
    if (source == any_source && table_.unacknowledged.count(FaultTable::comm_key(context)) != 0)
        return fail(Err::proc_failed_pending,
                    "acknowledge failures with MPIX_Comm_ack_failed, then wait again",
                    "a rank that might have sent the message has failed");
    return Err::success;
}

Err FaultMonitor::failure_of(const Operation& op) const {
    if (op.world_peer >= 0 && table_.failed_ranks.count(op.world_peer) != 0)
        return rank_failure(op.world_peer);
    if (survives_revocation(op.context, op.tag)) return Err::success;
    const auto found = table_.comm_errors.find(FaultTable::comm_key(op.context));
    if (found == table_.comm_errors.end()) return Err::success;
    return found->second == Err::revoked || is_collective(op.context) ? comm_error(found->second)
                                                                      : Err::success;
}

// Messages queued for space in a ring or for a handshake.
int FaultMonitor::fail_queued() {
    int ended = 0;
    const auto affected = [this](const SendQueue::QueuedSend& p) {
        return p.op != nullptr ? failure_of(*p.op) != Err::success : is_in_table(p.peer);
    };
    for (SendQueue::QueuedSend p{}; queue_.take_if(affected, p); ++ended)
        if (p.op != nullptr) // may start sends, which queue behind
            completion_.finish_with_error(*p.op, failure_of(*p.op));
    return ended;
}

int FaultMonitor::fail_posted() {
    int ended = 0;
    const auto affected = [this](const Operation& op) { return failure_of(op) != Err::success; };
    Matcher& matcher = receiver_.matcher();
    while (Operation* const op = matcher.find_posted(affected)) {
        matcher.unpost(*op);
        completion_.finish_with_error(*op, failure_of(*op));
        ++ended;
    }
    return ended;
}

// The network itself fails what it has in flight to a failed peer.
int FaultMonitor::fail_awaiting_reply() {
    int ended = 0;
    const auto to_fail = [this](const Operation& op) { // not failed by the network
        if (op.network_owned || !is_in_table(op.transport_peer)) return false;
        return !peers_.is_remote(op.transport_peer) ||
               ((op.ack_pending || op.cancel == Operation::Cancel::requested) && op.events_left == 1);
    };
    while (Operation* const op = operations_.find_if(to_fail)) {
        operations_.remove(*op);
        receiver_.rendezvous().coop().drop(*op);
        completion_.finish_with_error(*op, rank_failure(rank_of(op->transport_peer)));
        ++ended;
    }
    const auto to_cancel = [this](const Operation& op) {
        return op.kind == Operation::Kind::send && op.error == Err::success &&
               !is_in_table(op.transport_peer) && failure_of(op) != Err::success;
    };
    while (Operation* const op = operations_.find_if(to_cancel)) {
        op->error = failure_of(*op);
        cancellation_.cancel_send(*op);
    }
    return ended;
}

int FaultMonitor::fail_pipelined() {
    int ended = 0;
    const auto failed = [this](transport::Peer peer) { return is_in_table(peer); };
    for (; Operation* const op = rendezvous_.take_pipelined_if(failed); ++ended)
        completion_.finish_with_error(*op, rank_failure(op->world_peer));
    return ended;
}

// Long or synchronous messages to this rank itself whose receive will not be posted.
int FaultMonitor::fail_self_sends() {
    int ended = 0;
    UnexpectedMessages& unexpected = receiver_.matcher().unexpected();
    for (const auto& [key, why] : table_.comm_errors)
        for (const uint32_t context : {key, key + 1, key | partitioned_context}) {
            if (why != Err::revoked && !is_collective(context)) continue;
            const auto is_local = [](const IncomingMessage& m) { return m.local_send != nullptr; };
            while (UnexpectedMessage* const u = unexpected.find_if(context, is_local)) {
                Operation& op = *u->message.local_send;
                unexpected.discard(*u);
                completion_.finish_with_error(op, comm_error(why));
                ++ended;
            }
        }
    return ended;
}

} // namespace zipmpi::proto
