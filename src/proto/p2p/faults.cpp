// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Operations that cannot be done any more: their peer is gone, or their communicator is revoked, or they
// belong to a collective in which a member is missing. What is with a living peer is asked back
// (cancel.cpp), since that peer may be about to read from its memory.
#include "proto/p2p/lane.hpp"

#include <algorithm>

namespace zipmpi::proto {
namespace {

Err gone(int world_rank) {
    if (wire::is_foreign(world_rank))
        return fail(Err::proc_failed, "look for the message of that program or of its mpiexec",
                    "a process of another job, connected to this one, is gone");
    return fail(Err::proc_failed,
                "go on without it: MPIX_Comm_revoke and MPIX_Comm_shrink make a communicator of the others",
                "rank %d of MPI_COMM_WORLD has failed", world_rank);
}

Err broken_by(Err why) {
    if (why == Err::revoked)
        return fail(Err::revoked, "make another communicator of the living ranks with MPIX_Comm_shrink",
                    "a member has revoked the communicator");
    return fail(why, "revoke the communicator and go on with one made by MPIX_Comm_shrink",
                "a member of the communicator has failed");
}

bool is_collective(uint32_t context) { return (context & 1U) != 0 && (context & partitioned_context) == 0; }

} // namespace

int Lane::take_news() {
    const boot::NodeSegment& segment = shm_.segment();
    const wire::FaultNews& news = segment.news();
    int happened = 0;
    if (const uint32_t number = news_.load(std::memory_order_seq_cst); number != faults_.number) {
        faults_.number = number;
        for (const uint32_t n = news.failed.load(std::memory_order_acquire); faults_.failed < n;)
            lose_peer(segment.failed_rank(faults_.failed++));
        for (const uint32_t n = news.revoked.load(std::memory_order_acquire); faults_.revoked < n;) {
            faults_.broken[segment.revoked_context(faults_.revoked++)] = Err::revoked;
            faults_.any = true;
        }
        if (faults_.on_news != nullptr && faults_.any) faults_.on_news();
        if (faults_.on_decisions != nullptr) happened = faults_.on_decisions();
        // Fault news alone can end a wait that is for no operation: the flags of a collective.
        if (faults_.any) ++happened;
    }
    return happened + (faults_.any ? end_hopeless() : 0);
}

// From now on whatever is sent to it takes the slow path, where it is found hopeless.
void Lane::lose_peer(int world_rank) {
    if (!faults_.gone.insert(world_rank).second) return;
    faults_.any = true;
    if (const int local = shm_.reach(world_rank); local >= 0) {
        ++pending_of_peer_[static_cast<size_t>(local)];
        shm_.forget_peer(static_cast<transport::Peer>(local));
        shm_.look_at(static_cast<transport::Peer>(local)); // what it had sent before
    } else if (network_ != nullptr) {
        network_->give_up(world_rank);
    }
}

void Lane::lose_foreign(int world_rank) {
    if (!faults_.gone.insert(world_rank).second) return;
    faults_.any = true;
    if (faults_.on_news != nullptr) faults_.on_news();
}

bool Lane::is_gone(transport::Peer peer) const {
    const int rank =
        is_remote(peer) ? network_->rank_of(peer - local_ranks_) : shm_.segment().world_rank(peer);
    return faults_.gone.count(rank) != 0;
}

Err Lane::broken_with_faults(uint32_t context) const {
    const auto found = faults_.broken.find(Faults::key_of(context));
    return found != faults_.broken.end() ? broken_by(found->second) : Err::success;
}

Err Lane::no_message_with_faults(uint32_t context, int source, int world_source) const {
    if (source != any_source && faults_.gone.count(world_source) != 0) return gone(world_source);
    const auto found = faults_.broken.find(Faults::key_of(context));
    if (found != faults_.broken.end() && (found->second == Err::revoked || is_collective(context)))
        return broken_by(found->second);
    if (source == any_source && faults_.unacknowledged.count(Faults::key_of(context)) != 0)
        return fail(Err::proc_failed_pending,
                    "acknowledge failures with MPIX_Comm_ack_failed, then wait again",
                    "a rank that might have sent the message has failed");
    return Err::success;
}

Err Lane::verdict_on(const Operation& op) const {
    if (op.world_peer >= 0 && faults_.gone.count(op.world_peer) != 0) return gone(op.world_peer);
    if (survives(op.context, op.tag)) return Err::success;
    const auto found = faults_.broken.find(Faults::key_of(op.context));
    if (found == faults_.broken.end()) return Err::success;
    return found->second == Err::revoked || is_collective(op.context) ? broken_by(found->second)
                                                                      : Err::success;
}

void Lane::finish_hopeless(Operation& op, Err why) {
    op.error = why;
    finish(op);
}

int Lane::end_hopeless() {
    return end_pending() + end_posted() + end_in_table() + end_streams() + end_own_sends();
}

// What waits for room in a ring, or for an answer to a hello.
int Lane::end_pending() {
    int ended = 0;
    const auto hopeless = [this](const Pending& p) {
        return p.op != nullptr ? verdict_on(*p.op) != Err::success : is_gone(p.peer);
    };
    for (auto p = pending_.begin();
         (p = std::find_if(pending_.begin(), pending_.end(), hopeless)) != pending_.end(); ++ended) {
        Operation* const op = p->op;
        --pending_of_peer_[p->peer];
        pending_.erase(p);
        if (op != nullptr) finish_hopeless(*op, verdict_on(*op)); // may start others, which queue behind
    }
    return ended;
}

int Lane::end_posted() {
    int ended = 0;
    const auto hopeless = [this](const Operation& op) { return verdict_on(op) != Err::success; };
    while (Operation* const op = matcher_.find_posted(hopeless)) {
        matcher_.withdraw(*op);
        finish_hopeless(*op, verdict_on(*op));
        ++ended;
    }
    return ended;
}

// What waits for a peer to answer. The network ends by itself what it has under way to a lost peer.
int Lane::end_in_table() {
    int ended = 0;
    const auto alone = [this](const Operation& op) { // nobody else ends it
        if (op.in_network || !is_gone(op.transport_peer)) return false;
        return !is_remote(op.transport_peer) || ((op.awaits_ack || op.asked_back) && op.wanted == 1);
    };
    while (Operation* const op = table_.find_if(alone)) {
        table_.remove(*op);
        drop_joint(*op);
        finish_hopeless(*op, gone(is_remote(op->transport_peer)
                                      ? network_->rank_of(op->transport_peer - local_ranks_)
                                      : shm_.segment().world_rank(op->transport_peer)));
        ++ended;
    }
    const auto unasked = [this](const Operation& op) {
        return op.kind == Operation::Kind::send && op.error == Err::success && !is_gone(op.transport_peer) &&
               verdict_on(op) != Err::success;
    };
    while (Operation* const op = table_.find_if(unasked)) {
        op->error = verdict_on(*op);
        cancel_send(*op);
    }
    return ended;
}

int Lane::end_streams() {
    int ended = 0;
    const auto hopeless = [this](const Operation* op) { return is_gone(op->transport_peer); };
    for (auto s = streams_.begin();
         (s = std::find_if(streams_.begin(), streams_.end(), hopeless)) != streams_.end(); ++ended) {
        Operation* const op = *s;
        streams_.erase(s);
        finish_hopeless(*op, gone(op->world_peer));
    }
    return ended;
}

// Long or synchronous messages to oneself that nobody will receive.
int Lane::end_own_sends() {
    int ended = 0;
    for (const auto& [key, why] : faults_.broken)
        for (const uint32_t context : {key, key + 1, key | partitioned_context}) {
            if (why != Err::revoked && !is_collective(context)) continue;
            const auto waits = [](const Incoming& m) { return m.local != nullptr; };
            while (Unexpected* const u = matcher_.find_if(context, waits)) {
                Operation& op = *u->message.local;
                matcher_.discard(*u);
                finish_hopeless(op, broken_by(why));
                ++ended;
            }
        }
    return ended;
}

// Its sender is gone and takes no chunk any more.
void Lane::drop_joint(const Operation& recv) {
    for (JointCopying& copy : joint_) {
        if (copy.recv != &recv) continue;
        shm_.own_block().joint[&copy - joint_].taken.store(0, std::memory_order_release);
        copy.recv = nullptr;
        --joint_under_way_;
    }
}

} // namespace zipmpi::proto
