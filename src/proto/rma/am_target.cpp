// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/am_target.hpp"

#include "proto/p2p/progress_engine.hpp"
#include "proto/rma/post_flags.hpp"
#include "proto/rma/rdma_connections.hpp"
#include "proto/rma/rdma_notices.hpp"

#include <sched.h>

namespace zipmpi::proto::rma {
namespace {

bool read_head(const std::byte* batch, size_t bytes, wire::RmaBatch& head) {
    if (bytes < sizeof head) return false;
    std::memcpy(&head, batch, sizeof head);
    return true;
}

} // namespace

AmTarget::AmTarget(TargetTable& targets, AmMessenger& messenger, const AttachedRanges& attached,
                   const OpDecoder& decoder)
    : targets_(targets)
    , messenger_(messenger)
    , locks_(targets)
    , executor_(targets, attached, decoder)
    , origin_queues_(targets.team().size)
    , out_of_band_queues_(targets.team().size)
    , batches_(targets.team(), AmMessenger::batch_tag, *this) {
    hook_.owner = this;
    hook_.poll = [](ProgressHook& hook) { return static_cast<BlockedHook&>(hook).owner->resume_blocked(); };
}

AmTarget::~AmTarget() { targets_.team().engine->hooks().remove(hook_); }

AmTarget::OriginQueue& AmTarget::queue_from(OriginQueues& queues, int rank) {
    if (OriginQueue* const found = queues.find(rank); found != nullptr) return *found;
    return queues.add(rank, std::unique_ptr<OriginQueue>(new OriginQueue{.reply = {messenger_, rank}}));
}

void AmTarget::on_message(int from, const std::byte* message, size_t bytes) {
    wire::RmaBatch head{};
    if (from < 0 || from >= targets_.team().size || !read_head(message, bytes, head)) return;
    if ((head.flags & wire::rma_posts) != 0) {
        PostFlags(targets_, targets_.team().rank).set(from);
        return targets_.team().engine->engine_lock().wake_waiters();
    }
    if ((head.flags & wire::rma_connects) != 0)
        return on_connect(from, {reinterpret_cast<const char*>(message + sizeof head), bytes - sizeof head});
    if ((head.flags & wire::rma_out_of_band) != 0) return on_out_of_band(from, message, bytes);
    on_batch(from, head, message, bytes);
}

void AmTarget::on_batch(int from, const wire::RmaBatch& head, const std::byte* message, size_t bytes) {
    OriginQueue& s = queue_from(origin_queues_, from);
    if (head.number != s.received + 1) return;
    s.received = head.number;
    const bool waits = !s.deferred.empty();
    s.offset = waits ? s.offset : sizeof head;
    if (!waits && !is_early(head) && serve_batch(s, message, bytes) != ServeResult::blocked) return;
    s.deferred.emplace_back(message, message + bytes);
    if (!waits) block(s);
}

void AmTarget::on_out_of_band(int from, const std::byte* message, size_t bytes) {
    wire::RmaRequest request{};
    if (bytes != sizeof(wire::RmaBatch) + sizeof request) return;
    std::memcpy(&request, message + sizeof(wire::RmaBatch), sizeof request);
    if (request.kind < wire::RmaKind::yield_lock || request.extra_segments != 0 || request.data_bytes != 0)
        return;
    if (request.kind == wire::RmaKind::notice_lost) {
        if (notices_ != nullptr) notices_->on_notice_lost();
        return targets_.team().engine->engine_lock().wake_waiters();
    }
    OriginQueue& s = queue_from(out_of_band_queues_, from);
    s.deferred.emplace_back(message, message + bytes);
    if (s.deferred.size() > 1) return;
    s.offset = sizeof(wire::RmaBatch);
    if (!resume(s)) block(s);
}

void AmTarget::on_connect(int from, std::string_view text) {
    messenger_.answer_connection(from, connections_ != nullptr ? connections_->accept(text) : std::string());
}

// The origin is a fence ahead.
bool AmTarget::is_early(const wire::RmaBatch& head) const {
    return static_cast<int32_t>(head.epoch - messenger_.epoch()) > 0;
}

void AmTarget::block(OriginQueue& s) {
    blocked_queues_.push_back(&s);
    targets_.team().engine->hooks().add(hook_);
}

// Serves the requests from s.offset on.
AmTarget::ServeResult AmTarget::serve_batch(OriginQueue& s, const std::byte* batch, size_t bytes) {
    wire::RmaBatch head{};
    static_cast<void>(read_head(batch, bytes, head));
    ServeResult result = ServeResult::done;
    while (s.offset < bytes && result == ServeResult::done) {
        wire::RmaRequest request{};
        if (bytes - s.offset < sizeof request) break;
        std::memcpy(&request, batch + s.offset, sizeof request);
        const uint64_t rest =
            request.extra_segments * sizeof(wire::RmaSegment) + wire::rma_padded(request.data_bytes);
        if (rest > bytes - s.offset - sizeof request) break;
        result = serve_request(s, request, batch + s.offset + sizeof request);
        s.offset += sizeof request + rest;
    }
    if (result != ServeResult::blocked && (head.flags & wire::rma_out_of_band) == 0) {
        s.reply.set_served(head.number);
        ++served_;
    }
    const bool wanted = result != ServeResult::blocked && (head.flags & wire::rma_wants_reply) != 0;
    if (wanted || !s.reply.empty()) s.reply.send();
    targets_.team().engine->engine_lock().wake_waiters();
    return result;
}

// Returns true if no deferred batch is left.
bool AmTarget::resume(OriginQueue& s) {
    while (!s.deferred.empty()) {
        if (s.lock.awaited) {
            const TicketRwLock::Turn turn = locks_.poll(s.lock);
            if (turn == TicketRwLock::Turn::unknown) must_poll_ = true;
            if (turn == TicketRwLock::Turn::granted)
                on_lock_granted(s);
            else if (has_failed_member())
                refuse_lock(s);
            else
                return false;
        }
        wire::RmaBatch head{};
        const Bytes& first = s.deferred.front();
        static_cast<void>(read_head(first.data(), first.size(), head));
        if (is_early(head)) return false;
        if (serve_batch(s, first.data(), first.size()) == ServeResult::blocked) return false;
        s.deferred.pop_front();
        s.offset = sizeof head;
    }
    return true;
}

int AmTarget::resume_blocked() {
    must_poll_ = false;
    const size_t before = blocked_queues_.size();
    std::erase_if(blocked_queues_, [this](OriginQueue* s) { return resume(*s); });
    if (blocked_queues_.empty()) targets_.team().engine->hooks().remove(hook_);
    if (must_poll_) sched_yield(); // too many waiters ahead for a wakeup, so this rank polls
    return static_cast<int>(before - blocked_queues_.size()) + (must_poll_ ? 1 : 0);
}

bool AmTarget::has_failed_member() const {
    return targets_.team().engine->faults().comm_failure(targets_.team().context) != Err::success;
}

// The holder may have failed. The origin reports it; its requests are served so that they complete.
void AmTarget::refuse_lock(OriginQueue& s) {
    locks_.abandon(s.lock);
    s.reply.set_lock_refused();
    if (s.lock.wants_reply) s.reply.add_refusal(s.lock.reply_id, wire::RmaRefusal::failed_member);
}

void AmTarget::next_epoch(uint32_t served_before) {
    served_ -= served_before;
    messenger_.next_epoch();
    if (!blocked_queues_.empty()) resume_blocked();
}

void AmTarget::on_lock_granted(OriginQueue& s) {
    const std::optional<uint64_t> got = locks_.on_granted(s.lock);
    if (!got) return;
    if (std::byte* const reply = s.reply.add(s.lock.reply_id, sizeof *got); reply != nullptr)
        std::memcpy(reply, &*got, sizeof *got);
}

AmTarget::ServeResult AmTarget::serve_lock(OriginQueue& s, const wire::RmaRequest& head) {
    switch (locks_.request(s.lock, head)) {
    case LockService::Result::granted:
        on_lock_granted(s);
        return ServeResult::done;
    case LockService::Result::waiting:
        return ServeResult::blocked;
    default:
        return ServeResult::invalid;
    }
}

AmTarget::ServeResult AmTarget::serve_request(OriginQueue& s, const wire::RmaRequest& head,
                                              const std::byte* rest) {
    switch (head.kind) {
    case wire::RmaKind::lock_shared:
    case wire::RmaKind::lock_exclusive:
    case wire::RmaKind::yield_lock:
    case wire::RmaKind::admit_readers:
        return serve_lock(s, head);
    case wire::RmaKind::unlock:
        if (!s.lock.held) return ServeResult::invalid;
        locks_.release(s.lock);
        return ServeResult::done;
    case wire::RmaKind::complete:
        targets_.own_member().completed.fetch_add(1, std::memory_order_seq_cst);
        return ServeResult::done;
    case wire::RmaKind::notify:
        ++s.notifications;
        return ServeResult::done;
    default:
        executor_.execute(head, rest, s.reply);
        return ServeResult::done;
    }
}

} // namespace zipmpi::proto::rma
