// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/am_origin.hpp"

#include "proto/rma/rdma_connections.hpp"
#include "proto/rma/window_waiter.hpp"

namespace zipmpi::proto::rma {
namespace {

// Batches within a node fit into a cell; between hosts larger ones cost less per byte.
constexpr uint64_t node_batch_bytes = 16384;
constexpr uint64_t network_batch_bytes = wire::rma_message_bytes;
constexpr uint64_t bytes_per_ack = uint64_t{1} << 20;       // a reply is requested after this many bytes
constexpr uint64_t max_bytes_in_flight = uint64_t{4} << 20; // per target

void append(Bytes& message, const void* data, size_t bytes) {
    const auto* const first = static_cast<const std::byte*>(data);
    message.insert(message.end(), first, first + bytes);
}

Err out_of_window_error(int rank) {
    return fail(Err::rma_range, "access only memory that the target has in the window or has attached to it",
                "rank %d rejected an access outside its window", rank);
}

Err failed_holder_error(int rank) {
    return fail(Err::proc_failed, "free the window, and create one of the surviving ranks",
                "a failed member of the window may hold the lock of rank %d", rank);
}

} // namespace

AmOrigin::AmOrigin(const TargetTable& targets, AmMessenger& messenger, WindowWaiter& waiter,
                   DeferredError& failure)
    : targets_(targets)
    , messenger_(messenger)
    , waiter_(waiter)
    , failure_(failure)
    , target_queues_(targets.team().size)
    , replies_(targets.team(), AmMessenger::reply_tag, *this) {}

TargetQueue& AmOrigin::queue_to(int rank) {
    if (TargetQueue* const found = target_queues_.find(rank); found != nullptr) return *found;
    auto l = std::make_unique<TargetQueue>();
    l->rank = rank;
    l->max_batch_bytes = targets_.is_remote(rank) ? network_batch_bytes : node_batch_bytes;
    return target_queues_.add(rank, std::move(l));
}

uint32_t AmOrigin::add_pending_reply(const PendingReply& w) {
    if (free_ids_.empty()) {
        free_ids_.push_back(static_cast<uint32_t>(pending_replies_.size()));
        pending_replies_.emplace_back();
    }
    const uint32_t id = free_ids_.back();
    free_ids_.pop_back();
    pending_replies_[id] = w;
    ++w.fetch->pending;
    ++fetches_;
    return id;
}

void AmOrigin::append_request(TargetQueue& l, const AmRequest& r) {
    if (l.batch.empty()) l.batch.resize(sizeof(wire::RmaBatch)); // filled in by send_batch()
    wire::RmaRequest head{r.kind, 0, 0, r.op_code, 0, static_cast<uint32_t>(r.data_bytes), {}};
    if (r.count > 0) head.extra_segments = static_cast<uint16_t>(r.count - 1);
    if (r.fetch != nullptr) {
        head.id = add_pending_reply({r.fetch, l.rank, r.fetched_to, r.fetched_bytes});
        ++l.fetches;
        l.fetched_by_batch += r.fetched_bytes;
    }
    const size_t at = l.batch.size();
    for (size_t i = 0; i < r.count; ++i) {
        const wire::RmaSegment p{reinterpret_cast<uint64_t>(r.iov[i].iov_base), r.iov[i].iov_len};
        if (i == 0) {
            head.segment = p;
            append(l.batch, &head, sizeof head);
        } else {
            append(l.batch, &p, sizeof p);
        }
    }
    if (r.count == 0) append(l.batch, &head, sizeof head);
    const size_t data_at = l.batch.size();
    l.batch.resize(data_at + wire::rma_padded(r.data_bytes));
    load(r.data, r.data_from, l.batch.data() + data_at, r.data_bytes);
    l.bytes += l.batch.size() - at + r.fetched_bytes;
}

void AmOrigin::add(TargetQueue& l, const AmRequest& r) {
    const size_t needed_bytes = 2 * sizeof(wire::RmaRequest) + r.count * sizeof(wire::RmaSegment) +
                                wire::rma_padded(r.data_bytes); // including one for the lock
    const auto is_full = [&] {
        return l.batch.size() + needed_bytes > l.max_batch_bytes ||
               l.fetched_by_batch + r.fetched_bytes > l.max_batch_bytes;
    };
    while (!l.batch.empty() && is_full()) { // another thread may add while this one waits
        const uint64_t unacked_bytes =
            l.bytes - (l.ack_marks.empty() ? l.bytes_done : l.ack_marks.back().bytes);
        send_batch(l, unacked_bytes > bytes_per_ack ? Ack::requested : Ack::none);
        limit_bytes(l);
    }
    if (l.lock_state == TargetQueue::LockState::wanted_shared ||
        l.lock_state == TargetQueue::LockState::wanted_exclusive) {
        const bool exclusive = std::exchange(l.lock_state, TargetQueue::LockState::requested) ==
                               TargetQueue::LockState::wanted_exclusive;
        append_request(l, {exclusive ? wire::RmaKind::lock_exclusive : wire::RmaKind::lock_shared});
    }
    append_request(l, r);
}

void AmOrigin::send_batch(TargetQueue& l, Ack ack) {
    if (l.batch.empty()) return;
    ++l.sent;
    const bool with_ack = ack == Ack::requested;
    const wire::RmaBatch head{l.sent, messenger_.epoch(), with_ack ? wire::rma_wants_reply : 0, 0};
    std::memcpy(l.batch.data(), &head, sizeof head);
    if (with_ack || l.fetched_by_batch != 0) {
        l.ack_requested = l.sent;
        l.ack_marks.push_back({l.sent, l.bytes});
    }
    l.fetched_by_batch = 0;
    Bytes batch;
    batch.swap(l.batch);
    messenger_.send_batch(l.rank, std::move(batch));
}

void AmOrigin::send_all_batches() {
    target_queues_.for_each([this](TargetQueue& l) { send_batch(l, Ack::none); });
}

void AmOrigin::request_ack(TargetQueue& l) {
    if (l.is_flushed()) return;
    if (l.batch.empty()) {
        if (l.ack_requested == l.sent) return;
        l.batch.resize(sizeof(wire::RmaBatch));
    }
    send_batch(l, Ack::requested);
}

// Ends also when any member has failed: the target may have freed the window since, and answers no more.
template <class Condition>
void AmOrigin::await_answer(const Condition& condition, int rank) {
    waiter_.await(condition, rank, [this] { return waiter_.failure_of(-1); });
}

// Limits the unacknowledged bytes of a slow target.
void AmOrigin::limit_bytes(const TargetQueue& l) {
    if (l.bytes_in_flight() <= max_bytes_in_flight) return;
    await_answer([&l] { return l.bytes_in_flight() <= max_bytes_in_flight; }, l.rank);
}

void AmOrigin::flush(int rank) {
    TargetQueue* const l = target_queues_.find(rank);
    if (l == nullptr) return;
    request_ack(*l);
    await_answer([l] { return l->is_flushed(); }, rank);
}

void AmOrigin::flush_all() {
    target_queues_.for_each([this](TargetQueue& l) { request_ack(l); });
    target_queues_.for_each(
        [this](TargetQueue& l) { await_answer([&l] { return l.is_flushed(); }, l.rank); });
}

uint32_t AmOrigin::begin_flush(int rank) {
    TargetQueue* const l = target_queues_.find(rank);
    if (l == nullptr) return 0;
    request_ack(*l);
    return l->sent;
}

bool AmOrigin::is_flushed(int rank, uint32_t batch) const {
    const TargetQueue* const l = target_queues_.find(rank);
    if (l == nullptr || static_cast<int32_t>(l->done - batch) >= 0) return true;
    const Err failure = waiter_.failure_of(-1);
    if (failure != Err::success) failure_.set(failure);
    return failure != Err::success;
}

void AmOrigin::await_fetches(int rank) {
    TargetQueue* const l = target_queues_.find(rank);
    if (l == nullptr || l->fetches == 0) return;
    send_batch(*l, Ack::none);
    await_answer([l] { return l->fetches == 0; }, rank);
}

void AmOrigin::await_all_fetches() {
    if (fetches_ != 0) send_all_batches();
    target_queues_.for_each(
        [this](TargetQueue& l) { await_answer([&l] { return l.fetches == 0; }, l.rank); });
}

void AmOrigin::count_batches(uint32_t* counts, size_t stride) {
    target_queues_.for_each([counts, stride](TargetQueue& l) {
        counts[static_cast<size_t>(l.rank) * stride] = l.sent - l.counted;
        l.counted = l.sent;
    });
}

bool AmOrigin::on_reply(TargetQueue& l, const wire::RmaReply& reply, const std::byte* data) {
    if (reply.id >= pending_replies_.size()) return false;
    PendingReply& w = pending_replies_[reply.id];
    if (w.fetch == nullptr || w.rank != l.rank) return false;
    if (reply.refused != wire::RmaRefusal::none) {
        complete(reply.id, l, refusal_error(reply.refused, l.rank));
    } else if (reply.bytes == w.bytes) {
        store(w.fetch->result, w.to, data, w.bytes);
        complete(reply.id, l, Err::success);
    } else {
        return false;
    }
    return true;
}

void AmOrigin::complete(uint32_t id, TargetQueue& l, Err error) {
    FetchOp& fetch = *std::exchange(pending_replies_[id].fetch, nullptr);
    free_ids_.push_back(id);
    --l.fetches;
    --fetches_;
    if (error != Err::success) fetch.error = error;
    fetch.complete_part();
}

void AmOrigin::fail_pending() {
    const Err failed = waiter_.failure_of(-1);
    for (uint32_t id = 0; failed != Err::success && id < pending_replies_.size(); ++id)
        if (const PendingReply& w = pending_replies_[id]; w.fetch != nullptr)
            complete(id, queue_to(w.rank), failed);
}

// A target may know of a failure earlier than this rank.
Err AmOrigin::refusal_error(wire::RmaRefusal why, int rank) const {
    if (why == wire::RmaRefusal::out_of_window) return out_of_window_error(rank);
    const Err known = waiter_.failure_of(-1);
    return known != Err::success ? known : failed_holder_error(rank);
}

// Returns false if a reply is invalid.
bool AmOrigin::on_replies(TargetQueue& l, const std::byte* replies, size_t bytes) {
    for (size_t at = 0; at < bytes;) {
        wire::RmaReply reply{};
        if (bytes - at < sizeof reply) return false;
        std::memcpy(&reply, replies + at, sizeof reply);
        at += sizeof reply;
        if (reply.bytes > bytes - at || wire::rma_padded(reply.bytes) > bytes - at) return false;
        if (!on_reply(l, reply, replies + at)) return false;
        at += wire::rma_padded(reply.bytes);
    }
    return true;
}

void AmOrigin::on_message(int from, const std::byte* message, size_t bytes) {
    wire::RmaBatchReply head{};
    if (bytes < sizeof head) return;
    std::memcpy(&head, message, sizeof head);
    const std::byte* const rest = message + sizeof head;
    if ((head.flags & wire::rma_connected) != 0) {
        if (connections_ != nullptr)
            connections_->on_answer(from, {reinterpret_cast<const char*>(rest), bytes - sizeof head});
        return;
    }
    TargetQueue* const l = target_queues_.find(from);
    if (l == nullptr || !on_replies(*l, rest, bytes - sizeof head)) return;
    if (head.refused != 0) failure_.set(refusal_error(wire::RmaRefusal::out_of_window, from));
    if ((head.flags & wire::rma_lock_refused) != 0)
        failure_.set(refusal_error(wire::RmaRefusal::failed_member, from));
    if (head.served - l->done <= l->sent - l->done) l->done = head.served;
    for (; !l->ack_marks.empty() && static_cast<int32_t>(l->done - l->ack_marks.front().number) >= 0;
         l->ack_marks.pop_front())
        l->bytes_done = l->ack_marks.front().bytes;
    targets_.team().engine->engine_lock().wake_waiters();
}

} // namespace zipmpi::proto::rma
