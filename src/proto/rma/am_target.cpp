// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Target side of active messages. All contents of a batch are validated before use.
#include "os/clock.hpp"
#include "proto/rma/am_origin.hpp"
#include "proto/rma/rdma_path.hpp"

#include <algorithm>
#include <sched.h>

namespace zipmpi::proto::rma {
namespace {

constexpr int reply_tag = 1;

bool has_reply(wire::RmaKind kind) {
    return kind == wire::RmaKind::get || kind == wire::RmaKind::get_accumulate ||
           kind == wire::RmaKind::compare_and_swap;
}

bool read_head(const std::byte* batch, size_t bytes, wire::RmaBatch& head) {
    if (bytes < sizeof head) return false;
    std::memcpy(&head, batch, sizeof head);
    return true;
}

} // namespace

Window::AmPath::OriginQueue& Window::AmPath::queue_from(OriginQueues& queues, int rank) {
    auto& s = queues[static_cast<size_t>(rank)];
    if (s == nullptr) {
        s = std::make_unique<OriginQueue>();
        s->rank = rank;
    }
    return *s;
}

void Window::AmPath::on_batch(int from, const std::byte* message, size_t bytes) {
    wire::RmaBatch head{};
    if (from < 0 || from >= window_.team_.size || !read_head(message, bytes, head)) return;
    if ((head.flags & wire::rma_posts) != 0) {
        window_.record_post(from);
        return window_.team_.engine->wake_waiters();
    }
    if ((head.flags & wire::rma_connects) != 0)
        return on_connect(from, message + sizeof head, bytes - sizeof head);
    if ((head.flags & wire::rma_out_of_band) != 0) return on_out_of_band(from, message, bytes);
    OriginQueue& s = queue_from(origin_queues_, from);
    if (head.number != s.received + 1) return;
    s.received = head.number;
    const bool waits = !s.deferred.empty();
    const bool early = static_cast<int32_t>(head.epoch - epoch_) > 0;
    s.offset = waits ? s.offset : sizeof head;
    if (!waits && !early && serve_batch(s, message, bytes) != ServeResult::blocked) return;
    s.deferred.emplace_back(message, message + bytes);
    if (waits) return;
    blocked_queues_.push_back(&s);
    window_.team_.engine->add_hook(hook_);
}

void Window::AmPath::on_out_of_band(int from, const std::byte* message, size_t bytes) {
    wire::RmaRequest request{};
    if (bytes != sizeof(wire::RmaBatch) + sizeof request) return;
    std::memcpy(&request, message + sizeof(wire::RmaBatch), sizeof request);
    if (request.kind < wire::RmaKind::yield_lock || request.extra_segments != 0 || request.data_bytes != 0)
        return;
    OriginQueue& s = queue_from(out_of_band_queues_, from);
    s.deferred.emplace_back(message, message + bytes);
    if (s.deferred.size() > 1) return;
    s.offset = sizeof(wire::RmaBatch);
    if (resume(s)) return;
    blocked_queues_.push_back(&s);
    window_.team_.engine->add_hook(hook_);
}

// Serves the requests from s.offset on.
Window::AmPath::ServeResult Window::AmPath::serve_batch(OriginQueue& s, const std::byte* batch,
                                                        size_t bytes) {
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
        s.served = head.number;
        ++served_;
    }
    const bool wanted = result != ServeResult::blocked && (head.flags & wire::rma_wants_reply) != 0;
    if (wanted || !s.batch_reply.empty()) send_batch_reply(s);
    window_.team_.engine->wake_waiters();
    return result;
}

// Returns true if no deferred batch is left.
bool Window::AmPath::resume(OriginQueue& s) {
    while (!s.deferred.empty()) {
        if (s.awaited_lock != OriginQueue::Lock::none) {
            const bool exclusive = s.awaited_lock == OriginQueue::Lock::exclusive;
            TicketRwLock l(window_.members_[window_.team_.rank].lock);
            const TicketRwLock::Turn turn = l.poll_turn(*window_.team_.engine, exclusive, s.ticket);
            if (turn == TicketRwLock::Turn::unknown) must_poll_ = true;
            if (turn != TicketRwLock::Turn::granted) return false;
            s.lock = std::exchange(s.awaited_lock, OriginQueue::Lock::none);
            on_lock_granted(s);
        }
        wire::RmaBatch head{};
        const Bytes& first = s.deferred.front();
        static_cast<void>(read_head(first.data(), first.size(), head));
        if (static_cast<int32_t>(head.epoch - epoch_) > 0) return false;
        if (serve_batch(s, first.data(), first.size()) == ServeResult::blocked) return false;
        s.deferred.pop_front();
        s.offset = sizeof head;
    }
    return true;
}

int Window::AmPath::resume_blocked() {
    must_poll_ = false;
    const size_t before = blocked_queues_.size();
    std::erase_if(blocked_queues_, [this](OriginQueue* s) { return resume(*s); });
    if (blocked_queues_.empty()) window_.team_.engine->remove_hook(hook_);
    if (must_poll_) sched_yield(); // too many waiters ahead for a wakeup, so this rank polls
    return static_cast<int>(before - blocked_queues_.size()) + (must_poll_ ? 1 : 0);
}

void Window::AmPath::next_epoch(uint32_t served_before) {
    served_ -= served_before;
    ++epoch_;
    if (!blocked_queues_.empty()) resume_blocked();
}

// For a hybrid lock the reply states whether the origin holds the lock or must acquire it on the network.
// After `handover_count` consecutive requests the lock migrates to the network.
Window::AmPath::ServeResult Window::AmPath::lock(OriginQueue& s, const wire::RmaRequest& head) {
    if (s.lock != OriginQueue::Lock::none) return ServeResult::invalid;
    const RdmaPath* const path = window_.rdma_.get();
    const bool exclusive =
        head.kind == wire::RmaKind::lock_exclusive || head.kind == wire::RmaKind::yield_lock;
    const bool hybrid = path != nullptr && path->locks == RdmaPath::Locks::hybrid;
    const bool wants_lock = head.kind <= wire::RmaKind::lock_exclusive;
    if (!wants_lock && !hybrid) return ServeResult::invalid;
    s.wants_reply = hybrid && wants_lock;
    s.lock_id = head.id;
    s.yields_lock = hybrid && !s.wants_reply;
    if (s.wants_reply) {
        HybridLockNode node_lock(window_.members_[window_.team_.rank].network_lock);
        s.yields_lock = node_lock.count_request(path->handover_count);
    }
    const ServeResult result = draw_ticket(s, exclusive);
    if (result == ServeResult::done) on_lock_granted(s);
    return result;
}

void Window::AmPath::on_lock_granted(OriginQueue& s) {
    if (!s.wants_reply && !s.yields_lock) return;
    const bool exclusive = s.lock == OriginQueue::Lock::exclusive;
    HybridLockNode node_lock(window_.members_[window_.team_.rank].network_lock);
    if (exclusive && node_lock.is_open_to_readers())
        window_.release_as_reader(window_.team_.rank);
    else if (exclusive && s.yields_lock && node_lock.holds())
        node_lock.yield();
    else if (s.yields_lock)
        node_lock.open_to_readers();
    const uint64_t got = node_lock.holds() && !s.yields_lock ? 1 : 0;
    if (got == 0) unlock(s);
    if (s.wants_reply)
        if (std::byte* const reply = add_reply(s, s.lock_id, sizeof got, false); reply != nullptr)
            std::memcpy(reply, &got, sizeof got);
}

Window::AmPath::ServeResult Window::AmPath::draw_ticket(OriginQueue& s, bool exclusive) {
    const OriginQueue::Lock wanted = exclusive ? OriginQueue::Lock::exclusive : OriginQueue::Lock::shared;
    TicketRwLock l(window_.members_[window_.team_.rank].lock);
    if (l.draw_ticket(exclusive, s.ticket)) {
        s.lock = wanted;
        return ServeResult::done;
    }
    s.awaited_lock = wanted;
    return ServeResult::blocked;
}

void Window::AmPath::unlock(OriginQueue& s) {
    TicketRwLock l(window_.members_[window_.team_.rank].lock);
    ProgressEngine& engine = *window_.team_.engine;
    s.lock == OriginQueue::Lock::exclusive ? l.unlock_exclusive(engine) : l.unlock_shared(engine);
    s.lock = OriginQueue::Lock::none;
}

Window::AmPath::ServeResult Window::AmPath::serve_request(OriginQueue& s, const wire::RmaRequest& head,
                                                          const std::byte* rest) {
    switch (head.kind) {
    case wire::RmaKind::lock_shared:
    case wire::RmaKind::lock_exclusive:
    case wire::RmaKind::yield_lock:
    case wire::RmaKind::admit_readers:
        return lock(s, head);
    case wire::RmaKind::unlock:
        if (s.lock == OriginQueue::Lock::none) return ServeResult::invalid;
        unlock(s);
        return ServeResult::done;
    case wire::RmaKind::complete:
        window_.members_[window_.team_.rank].completed.fetch_add(1, std::memory_order_seq_cst);
        return ServeResult::done;
    default:
        break;
    }
    iov_.clear();
    iov_bytes_ = 0;
    bool good = head.kind <= wire::RmaKind::compare_and_swap && add_segment(head.segment);
    for (uint32_t i = 0; good && i < head.extra_segments; ++i) {
        wire::RmaSegment p{};
        std::memcpy(&p, rest + i * sizeof p, sizeof p);
        good = add_segment(p);
    }
    good = good && access(s, head, rest + head.extra_segments * sizeof(wire::RmaSegment));
    if (!good && has_reply(head.kind))
        add_reply(s, head.id, 0, true);
    else if (!good)
        ++s.refused;
    return ServeResult::done;
}

// Validates and adds a segment of the local region.
bool Window::AmPath::add_segment(const wire::RmaSegment& p) {
    const Region& own = window_.regions_[static_cast<size_t>(window_.team_.rank)];
    const bool inside = own.size == dynamic_size ? window_.is_attached(p.offset, p.bytes)
                                                 : p.offset <= own.size && p.bytes <= own.size - p.offset;
    if (!inside || p.bytes > wire::rma_message_bytes - iov_bytes_) return false;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): checked
    iov_.push_back({reinterpret_cast<void*>(own.base + p.offset), p.bytes});
    iov_bytes_ += p.bytes;
    return true;
}

// Sends the batch reply first if it would become too long. Returns null if the reply exceeds the limit.
std::byte* Window::AmPath::add_reply(OriginQueue& s, uint32_t id, uint64_t bytes, bool refused) {
    const uint64_t reply_bytes = sizeof(wire::RmaReply) + wire::rma_padded(bytes);
    if (reply_bytes > wire::rma_message_bytes - sizeof(wire::RmaBatchReply)) return nullptr;
    if (!s.batch_reply.empty() && s.batch_reply.size() + reply_bytes > wire::rma_message_bytes)
        send_batch_reply(s);
    if (s.batch_reply.empty()) s.batch_reply.resize(sizeof(wire::RmaBatchReply));
    const size_t at = s.batch_reply.size();
    s.batch_reply.resize(at + reply_bytes);
    const wire::RmaReply reply{id, refused ? 1U : 0U, bytes};
    std::memcpy(s.batch_reply.data() + at, &reply, sizeof reply);
    return s.batch_reply.data() + at + sizeof reply;
}

void Window::AmPath::send_batch_reply(OriginQueue& s) {
    if (s.batch_reply.empty()) s.batch_reply.resize(sizeof(wire::RmaBatchReply));
    const wire::RmaBatchReply head{s.served, std::exchange(s.refused, 0), 0, 0};
    std::memcpy(s.batch_reply.data(), &head, sizeof head);
    send(s.rank, reply_tag, std::exchange(s.batch_reply, {}));
}

bool Window::AmPath::access(OriginQueue& s, const wire::RmaRequest& head, const std::byte* data) {
    if (head.kind == wire::RmaKind::put) {
        if (head.data_bytes != iov_bytes_) return false;
        unpack_iov(iov_.data(), iov_.size(), data);
        return true;
    }
    if (!has_reply(head.kind)) return accumulate(head, data, nullptr);
    std::byte* const fetched = add_reply(s, head.id, iov_bytes_, false);
    if (fetched == nullptr) return false;
    const auto before = static_cast<size_t>(fetched - s.batch_reply.data()) - sizeof(wire::RmaReply);
    if (head.kind == wire::RmaKind::get) {
        pack_iov(iov_.data(), iov_.size(), fetched);
        return true;
    }
    const bool good = head.kind == wire::RmaKind::get_accumulate ? accumulate(head, data, fetched)
                                                                 : swap(head, data, fetched);
    if (!good) s.batch_reply.resize(before); // the caller adds a refusal instead
    return good;
}

bool Window::AmPath::swap(const wire::RmaRequest& head, const std::byte* data, std::byte* fetched) {
    CompareSwapOp swap;
    if (iov_.size() != 1 || !window_.op_decoder_.decode_swap(head.op, swap) || iov_bytes_ != swap.bytes ||
        head.data_bytes != 2 * uint64_t{swap.bytes})
        return false;
    swap_element(swap, static_cast<std::byte*>(iov_[0].iov_base), data, data + swap.bytes, fetched,
                 window_.guard_for_requests());
    return true;
}

bool Window::AmPath::accumulate(const wire::RmaRequest& head, const std::byte* data, std::byte* fetched) {
    AccumulateOp c;
    if (!window_.op_decoder_.decode_accumulate(head.op, c) || (c.writes() && head.data_bytes != iov_bytes_) ||
        iov_bytes_ % c.element_bytes != 0)
        return false;
    const bool by_elements = c.layout == nullptr && (c.kind == AccumulateOp::Kind::combine || c.cpu_atomic);
    for (size_t i = 0; i < iov_.size() && by_elements; ++i)
        if (iov_[i].iov_len % c.element_bytes != 0) return false;
    accumulate_iov(c, iov_.data(), iov_.size(), c.writes() ? data : nullptr, fetched,
                   window_.guard_for_requests(), scratch_);
    return true;
}

} // namespace zipmpi::proto::rma
