// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Fails operations that can no longer complete: their peer has failed, their communicator is revoked, or they
// belong to a collective with a failed member. Sends whose envelope has reached a live peer are canceled
// first (cancel.cpp), since that peer may be about to read their buffer.
#include "proto/p2p/progress_engine.hpp"

#include <algorithm>

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

int ProgressEngine::process_faults() {
    const segment::NodeSegment& segment = shm_.segment();
    const wire::FaultState& state = segment.fault_state();
    int happened = 0;
    if (const uint32_t now = fault_generation_.load(std::memory_order_seq_cst); now != faults_.generation) {
        faults_.generation = now;
        for (const uint32_t n = state.failed.load(std::memory_order_acquire); faults_.failed_seen < n;)
            fail_peer(segment.failed_rank(faults_.failed_seen++));
        for (const uint32_t n = state.revoked.load(std::memory_order_acquire); faults_.revoked_seen < n;) {
            faults_.comm_errors[segment.revoked_context(faults_.revoked_seen++)] = Err::revoked;
            faults_.any = true;
        }
        if (faults_.on_fault != nullptr && faults_.any) faults_.on_fault();
        if (faults_.on_agreements != nullptr) happened = faults_.on_agreements();
        // Counts as an event: it may end a wait without an operation, such as for flags of a collective.
        if (faults_.any) ++happened;
    }
    return happened + (faults_.any ? fail_affected_operations() : 0);
}

// From now on sends to the peer take the slow path, where they fail.
void ProgressEngine::fail_peer(int world_rank) {
    if (!faults_.failed_ranks.insert(world_rank).second) return;
    faults_.any = true;
    if (const int local = shm_.peer_of(world_rank); local >= 0) {
        ++pending_of_peer_[static_cast<size_t>(local)];
        shm_.reclaim_cells(static_cast<transport::Peer>(local));
        shm_.force_poll(static_cast<transport::Peer>(local)); // reads what it had sent before
    } else if (network_ != nullptr) {
        network_->fail_peer(world_rank);
    }
}

void ProgressEngine::fail_external(int world_rank) {
    if (!faults_.failed_ranks.insert(world_rank).second) return;
    faults_.any = true;
    if (faults_.on_fault != nullptr) faults_.on_fault();
}

bool ProgressEngine::is_failed(transport::Peer peer) const {
    const int rank =
        is_remote(peer) ? network_->rank_of(peer - local_ranks_) : shm_.segment().world_rank(peer);
    return faults_.failed_ranks.count(rank) != 0;
}

Err ProgressEngine::find_comm_failure(uint32_t context) const {
    const auto found = faults_.comm_errors.find(FaultTable::comm_key(context));
    return found != faults_.comm_errors.end() ? comm_error(found->second) : Err::success;
}

Err ProgressEngine::find_source_failure(uint32_t context, int source, int world_source) const {
    if (source != any_source && faults_.failed_ranks.count(world_source) != 0)
        return rank_failure(world_source);
    const auto found = faults_.comm_errors.find(FaultTable::comm_key(context));
    if (found != faults_.comm_errors.end() && (found->second == Err::revoked || is_collective(context)))
        return comm_error(found->second);
    if (source == any_source && faults_.unacknowledged.count(FaultTable::comm_key(context)) != 0)
        return fail(Err::proc_failed_pending,
                    "acknowledge failures with MPIX_Comm_ack_failed, then wait again",
                    "a rank that might have sent the message has failed");
    return Err::success;
}

Err ProgressEngine::failure_of(const Operation& op) const {
    if (op.world_peer >= 0 && faults_.failed_ranks.count(op.world_peer) != 0)
        return rank_failure(op.world_peer);
    if (survives_revocation(op.context, op.tag)) return Err::success;
    const auto found = faults_.comm_errors.find(FaultTable::comm_key(op.context));
    if (found == faults_.comm_errors.end()) return Err::success;
    return found->second == Err::revoked || is_collective(op.context) ? comm_error(found->second)
                                                                      : Err::success;
}

void ProgressEngine::finish_with_error(Operation& op, Err why) {
    op.error = why;
    finish(op);
}

int ProgressEngine::fail_affected_operations() {
    return fail_pending() + fail_posted() + fail_in_table() + fail_pipelined_sends() + fail_self_sends();
}

// Messages queued for space in a ring or for a handshake.
int ProgressEngine::fail_pending() {
    int ended = 0;
    const auto affected = [this](const QueuedSend& p) {
        return p.op != nullptr ? failure_of(*p.op) != Err::success : is_failed(p.peer);
    };
    for (auto p = pending_.begin();
         (p = std::find_if(pending_.begin(), pending_.end(), affected)) != pending_.end(); ++ended) {
        Operation* const op = p->op;
        --pending_of_peer_[p->peer];
        pending_.erase(p);
        if (op != nullptr) finish_with_error(*op, failure_of(*op)); // may start sends, which queue behind
    }
    return ended;
}

int ProgressEngine::fail_posted() {
    int ended = 0;
    const auto affected = [this](const Operation& op) { return failure_of(op) != Err::success; };
    while (Operation* const op = matcher_.find_posted(affected)) {
        matcher_.unpost(*op);
        finish_with_error(*op, failure_of(*op));
        ++ended;
    }
    return ended;
}

// Operations that wait for a reply. The network itself fails what it has in flight to a failed peer.
int ProgressEngine::fail_in_table() {
    int ended = 0;
    const auto to_fail = [this](const Operation& op) { // not failed by the network
        if (op.network_owned || !is_failed(op.transport_peer)) return false;
        return !is_remote(op.transport_peer) || ((op.ack_pending || op.cancel_pending) && op.expected == 1);
    };
    while (Operation* const op = table_.find_if(to_fail)) {
        table_.remove(*op);
        drop_coop_copy(*op);
        finish_with_error(*op, rank_failure(is_remote(op->transport_peer)
                                                ? network_->rank_of(op->transport_peer - local_ranks_)
                                                : shm_.segment().world_rank(op->transport_peer)));
        ++ended;
    }
    const auto to_cancel = [this](const Operation& op) {
        return op.kind == Operation::Kind::send && op.error == Err::success &&
               !is_failed(op.transport_peer) && failure_of(op) != Err::success;
    };
    while (Operation* const op = table_.find_if(to_cancel)) {
        op->error = failure_of(*op);
        cancel_send(*op);
    }
    return ended;
}

int ProgressEngine::fail_pipelined_sends() {
    int ended = 0;
    const auto affected = [this](const Operation* op) { return is_failed(op->transport_peer); };
    for (auto s = pipelined_sends_.begin();
         (s = std::find_if(pipelined_sends_.begin(), pipelined_sends_.end(), affected)) !=
         pipelined_sends_.end();
         ++ended) {
        Operation* const op = *s;
        pipelined_sends_.erase(s);
        finish_with_error(*op, rank_failure(op->world_peer));
    }
    return ended;
}

// Long or synchronous messages to this rank itself whose receive will not be posted.
int ProgressEngine::fail_self_sends() {
    int ended = 0;
    for (const auto& [key, why] : faults_.comm_errors)
        for (const uint32_t context : {key, key + 1, key | partitioned_context}) {
            if (why != Err::revoked && !is_collective(context)) continue;
            const auto is_local = [](const IncomingMessage& m) { return m.local_send != nullptr; };
            while (UnexpectedMessage* const u = matcher_.find_if(context, is_local)) {
                Operation& op = *u->message.local_send;
                matcher_.discard(*u);
                finish_with_error(op, comm_error(why));
                ++ended;
            }
        }
    return ended;
}

// The sender has failed and claims no more chunks.
void ProgressEngine::drop_coop_copy(const Operation& recv) {
    for (CoopCopy& copy : coop_copies_) {
        if (copy.recv != &recv) continue;
        shm_.own_block().coop_copies[&copy - coop_copies_].taken.store(0, std::memory_order_release);
        copy.recv = nullptr;
        --active_coop_copies_;
    }
}

} // namespace zipmpi::proto
