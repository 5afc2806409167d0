// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/am_origin.hpp"

#include "proto/rma/iov_chunk.hpp"
#include "proto/rma/rdma_path.hpp"

namespace zipmpi::proto::rma {
namespace {

constexpr int batch_tag = 0;
constexpr int reply_tag = 1;
// Batches within a node fit into a cell; between hosts larger ones cost less per byte.
constexpr uint64_t node_batch_bytes = 16384;
constexpr uint64_t network_batch_bytes = wire::rma_message_bytes;
constexpr uint64_t bytes_per_ack = uint64_t{1} << 20;       // a reply is requested after this many bytes
constexpr uint64_t max_bytes_in_flight = uint64_t{4} << 20; // per target

// An outgoing message; deletes itself on completion.
struct AmSend : Operation {
    Bytes data;
};

void append(Bytes& message, const void* data, size_t bytes) {
    const auto* const first = static_cast<const std::byte*>(data);
    message.insert(message.end(), first, first + bytes);
}

Err out_of_window_error(int rank) {
    return fail(Err::rma_range, "access only memory that the target has in the window or has attached to it",
                "rank %d rejected an access outside its window", rank);
}

} // namespace

void Window::AmPath::AmReceiver::start(AmPath& m, int tag) {
    path = &m;
    buffer.resize(wire::rma_message_bytes);
    set_recv(operation, m.window_.team(), buffer.data(), buffer.size(), any_source, tag);
    operation.owner = this;
    // The completion callback must not start another operation on the same context.
    operation.on_done = [](Operation& op) {
        AmReceiver& r = *static_cast<AmReceive&>(op).owner;
        r.path->window_.team().engine->defer(r);
    };
    run = [](DeferredTask& d) {
        auto& r = static_cast<AmReceiver&>(d);
        if (r.operation.error == Err::success)
            (r.path->*r.handle)(r.operation.matched_source, r.buffer.data(), r.operation.received);
        r.post();
    };
    post();
}

void Window::AmPath::AmReceiver::post() {
    operation.reset();
    path->window_.team().engine->start_recv(operation);
}

Window::AmPath::AmPath(Window& window)
    : window_(window)
    , target_queues_(static_cast<size_t>(window.team_.size))
    , origin_queues_(static_cast<size_t>(window.team_.size))
    , out_of_band_queues_(origin_queues_.size()) {
    hook_.path = this;
    hook_.poll = [](ProgressHook& w) { return static_cast<AmHook&>(w).path->resume_blocked(); };
    batches_.handle = &AmPath::on_batch;
    batch_replies_.handle = &AmPath::on_batch_reply;
    batches_.start(*this, batch_tag);
    batch_replies_.start(*this, reply_tag);
}

Window::AmPath::~AmPath() {
    ProgressEngine& engine = *window_.team().engine;
    engine.remove_hook(hook_);
    for (AmReceiver* const r : {&batches_, &batch_replies_}) {
        engine.cancel_deferred(*r);
        if (!r->operation.done()) engine.abandon_recv(r->operation);
    }
}

void Window::AmPath::send(int to, int tag, Bytes message) {
    auto* const out = new AmSend;
    out->data = std::move(message);
    set_send(*out, window_.team(), out->data.data(), out->data.size(), to, tag);
    out->on_done = [](Operation& op) { delete static_cast<AmSend*>(&op); };
    window_.team().engine->start_send(*out);
}

Window::AmPath::TargetQueue& Window::AmPath::queue_to(int rank) {
    auto& l = target_queues_[static_cast<size_t>(rank)];
    if (l == nullptr) {
        l = std::make_unique<TargetQueue>();
        l->rank = rank;
        l->max_batch_bytes = window_.peek(rank).remote ? network_batch_bytes : node_batch_bytes;
    }
    return *l;
}

uint32_t Window::AmPath::add_pending_reply(const PendingReply& w) {
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

void Window::AmPath::append_request(TargetQueue& l, const AmRequest& r) {
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

void Window::AmPath::add(TargetQueue& l, const AmRequest& r) {
    const size_t needed_bytes = 2 * sizeof(wire::RmaRequest) + r.count * sizeof(wire::RmaSegment) +
                                wire::rma_padded(r.data_bytes); // including one for the lock
    const auto is_full = [&] {
        return l.batch.size() + needed_bytes > l.max_batch_bytes ||
               l.fetched_by_batch + r.fetched_bytes > l.max_batch_bytes;
    };
    while (!l.batch.empty() && is_full()) { // another thread may add while this one waits
        const uint64_t unacked_bytes =
            l.bytes - (l.ack_marks.empty() ? l.bytes_done : l.ack_marks.back().bytes);
        send_batch(l, unacked_bytes > bytes_per_ack);
        limit_bytes(l);
    }
    if (l.lock_state == LockState::wanted_shared || l.lock_state == LockState::wanted_exclusive) {
        const bool exclusive =
            std::exchange(l.lock_state, LockState::requested) == LockState::wanted_exclusive;
        append_request(l, {exclusive ? wire::RmaKind::lock_exclusive : wire::RmaKind::lock_shared});
    }
    append_request(l, r);
}

void Window::AmPath::send_batch(TargetQueue& l, bool with_ack) {
    if (l.batch.empty()) return;
    ++l.sent;
    const wire::RmaBatch head{l.sent, epoch_, with_ack ? wire::rma_wants_reply : 0, 0};
    std::memcpy(l.batch.data(), &head, sizeof head);
    if (with_ack || l.fetched_by_batch != 0) {
        l.ack_requested = l.sent;
        l.ack_marks.push_back({l.sent, l.bytes});
    }
    l.fetched_by_batch = 0;
    Bytes batch;
    batch.swap(l.batch);
    send(l.rank, batch_tag, std::move(batch));
}

void Window::AmPath::send_all_batches(bool with_acks) {
    for (const auto& l : target_queues_)
        if (l != nullptr) with_acks ? request_ack(*l) : send_batch(*l, false);
}

void Window::AmPath::request_ack(TargetQueue& l) {
    if (l.is_flushed()) return;
    if (l.batch.empty()) {
        if (l.ack_requested == l.sent) return;
        l.batch.resize(sizeof(wire::RmaBatch));
    }
    send_batch(l, true);
}

// Limits the unacknowledged bytes of a slow target.
void Window::AmPath::limit_bytes(TargetQueue& l) {
    if (l.bytes_in_flight() <= max_bytes_in_flight) return;
    window_.await(
        [](const Window& w, int64_t rank) {
            return w.am_->find_queue(static_cast<int>(rank))->bytes_in_flight() <= max_bytes_in_flight;
        },
        l.rank, l.rank);
}

void Window::AmPath::post_to(int origin) {
    const wire::RmaBatch head{0, epoch_, wire::rma_posts, 0};
    Bytes message;
    append(message, &head, sizeof head);
    send(origin, batch_tag, std::move(message));
}

void Window::AmPath::send_out_of_band(int target, wire::RmaKind kind) {
    const wire::RmaBatch head{0, 0, wire::rma_out_of_band, 0};
    const wire::RmaRequest request{kind, 0, 0, 0, 0, 0, {}};
    Bytes message;
    append(message, &head, sizeof head);
    append(message, &request, sizeof request);
    send(target, batch_tag, std::move(message));
}

void Window::AmPath::request_connection(int target, const std::string& text) {
    const wire::RmaBatch head{0, epoch_, wire::rma_connects, 0};
    Bytes message;
    append(message, &head, sizeof head);
    append(message, text.data(), text.size());
    send(target, batch_tag, std::move(message));
}

void Window::AmPath::on_connect(int from, const std::byte* text, size_t bytes) {
    std::string reply;
    if (window_.rdma_ != nullptr)
        reply = window_.rdma_->context.accept({reinterpret_cast<const char*>(text), bytes});
    const wire::RmaBatchReply head{0, 0, wire::rma_connected, 0};
    Bytes message;
    append(message, &head, sizeof head);
    append(message, reply.data(), reply.size());
    send(from, reply_tag, std::move(message));
}

void Window::AmPath::on_connected(int from, const std::byte* text, size_t bytes) {
    if (window_.rdma_ == nullptr || from < 0 || from >= window_.team_.size) return;
    RdmaContext& device = window_.rdma_->context;
    device.connect(device.connection_to(window_.team_.map.world(from)),
                   {reinterpret_cast<const char*>(text), bytes});
    window_.team().engine->wake_waiters();
}

bool Window::AmPath::all_flushed() const {
    for (const auto& l : target_queues_)
        if (l != nullptr && !l->is_flushed()) return false;
    return true;
}

void Window::AmPath::count_batches(uint32_t* counts) {
    for (const auto& l : target_queues_) {
        if (l == nullptr) continue;
        counts[l->rank] = l->sent - l->counted;
        l->counted = l->sent;
    }
}

bool Window::AmPath::on_reply(TargetQueue& l, const wire::RmaReply& reply, const std::byte* data) {
    if (reply.id >= pending_replies_.size()) return false;
    PendingReply& w = pending_replies_[reply.id];
    if (w.fetch == nullptr || w.rank != l.rank) return false;
    FetchOp& fetch = *w.fetch;
    if (reply.refused != 0)
        fetch.error = out_of_window_error(l.rank);
    else if (reply.bytes == w.bytes)
        store(fetch.result, w.to, data, w.bytes);
    else
        return false;
    w.fetch = nullptr;
    free_ids_.push_back(reply.id);
    --l.fetches;
    --fetches_;
    fetch.complete_part();
    return true;
}

void Window::AmPath::on_batch_reply(int from, const std::byte* message, size_t bytes) {
    wire::RmaBatchReply head{};
    if (bytes < sizeof head) return;
    std::memcpy(&head, message, sizeof head);
    if ((head.flags & wire::rma_connected) != 0)
        return on_connected(from, message + sizeof head, bytes - sizeof head);
    TargetQueue* const l = find_queue(from);
    if (l == nullptr) return;
    for (size_t at = sizeof head; at < bytes;) {
        wire::RmaReply reply{};
        if (bytes - at < sizeof reply) return;
        std::memcpy(&reply, message + at, sizeof reply);
        at += sizeof reply;
        if (reply.bytes > bytes - at || wire::rma_padded(reply.bytes) > bytes - at) return;
        if (!on_reply(*l, reply, message + at)) return;
        at += wire::rma_padded(reply.bytes);
    }
    if (head.refused != 0) window_.failure_ = out_of_window_error(from);
    if (head.served - l->done <= l->sent - l->done) l->done = head.served;
    for (; !l->ack_marks.empty() && static_cast<int32_t>(l->done - l->ack_marks.front().number) >= 0;
         l->ack_marks.pop_front())
        l->bytes_done = l->ack_marks.front().bytes;
    window_.team().engine->wake_waiters();
}

} // namespace zipmpi::proto::rma
