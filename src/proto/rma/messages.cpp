// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/messages.hpp"

#include "proto/rma/on_device.hpp"
#include "proto/rma/pieces.hpp"

namespace zipmpi::proto::rma {
namespace {

constexpr int batch_tag = 0;
constexpr int answer_tag = 1;
// Batches within a node fit into a cell; between hosts longer ones are cheaper by the byte.
constexpr uint64_t node_batch_bytes = 16384;
constexpr uint64_t network_batch_bytes = wire::rma_message_bytes;
// Now and then an answer is asked for, so that no more than this is under way.
constexpr uint64_t bytes_per_answer = uint64_t{1} << 20;
constexpr uint64_t most_bytes_out = uint64_t{4} << 20;

// A message on its way; it ends itself.
struct Outgoing : Operation {
    Bytes data;
};

void append(Bytes& message, const void* data, size_t bytes) {
    const auto* const first = static_cast<const std::byte*>(data);
    message.insert(message.end(), first, first + bytes);
}

Err not_in_window(int rank) {
    return fail(Err::rma_range, "access only memory that the target has in the window or has attached to it",
                "rank %d has refused an access outside its window", rank);
}

} // namespace

void Window::Messages::Receiver::start(Messages& m, int tag) {
    messages = &m;
    buffer.resize(wire::rma_message_bytes);
    set_recv(operation, m.window_.team(), buffer.data(), buffer.size(), any_source, tag);
    operation.owner = this;
    // Inside the completion of an operation no other can be started on its context.
    operation.on_done = [](Operation& op) {
        Receiver& r = *static_cast<Receive&>(op).owner;
        r.messages->window_.team().lane->defer(r);
    };
    run = [](Deferred& d) {
        auto& r = static_cast<Receiver&>(d);
        if (r.operation.error == Err::success)
            (r.messages->*r.take)(r.operation.matched_source, r.buffer.data(), r.operation.received);
        r.post();
    };
    post();
}

void Window::Messages::Receiver::post() {
    operation.reset();
    messages->window_.team().lane->start_recv(operation);
}

Window::Messages::Messages(Window& window)
    : window_(window)
    , links_(static_cast<size_t>(window.team_.size))
    , streams_(static_cast<size_t>(window.team_.size))
    , apart_streams_(streams_.size()) {
    watch_.messages = this;
    watch_.look = [](Watcher& w) { return static_cast<Watch&>(w).messages->look_at_kept(); };
    batches_.take = &Messages::take_batch;
    answers_.take = &Messages::take_answer;
    batches_.start(*this, batch_tag);
    answers_.start(*this, answer_tag);
}

Window::Messages::~Messages() {
    Lane& lane = *window_.team().lane;
    lane.unwatch(watch_);
    for (Receiver* const r : {&batches_, &answers_}) {
        lane.forget(*r);
        if (!r->operation.done()) lane.give_up_recv(r->operation);
    }
}

void Window::Messages::send(int to, int tag, Bytes message) {
    auto* const out = new Outgoing;
    out->data = std::move(message);
    set_send(*out, window_.team(), out->data.data(), out->data.size(), to, tag);
    out->on_done = [](Operation& op) { delete static_cast<Outgoing*>(&op); };
    window_.team().lane->start_send(*out);
}

Window::Messages::Link& Window::Messages::link(int rank) {
    auto& l = links_[static_cast<size_t>(rank)];
    if (l == nullptr) {
        l = std::make_unique<Link>();
        l->rank = rank;
        l->longest_batch = window_.peek(rank).remote ? network_batch_bytes : node_batch_bytes;
    }
    return *l;
}

uint32_t Window::Messages::add_waiting(const Waiting& w) {
    if (free_.empty()) {
        free_.push_back(static_cast<uint32_t>(waiting_.size()));
        waiting_.emplace_back();
    }
    const uint32_t id = free_.back();
    free_.pop_back();
    waiting_[id] = w;
    ++w.exchange->waiting;
    ++fetches_;
    return id;
}

void Window::Messages::append_request(Link& l, const Request& r) {
    if (l.batch.empty()) l.batch.resize(sizeof(wire::RmaBatch)); // filled in when it goes
    wire::RmaRequest head{r.kind, 0, 0, r.combine, 0, static_cast<uint32_t>(r.data_bytes), {}};
    if (r.count > 0) head.more_pieces = static_cast<uint16_t>(r.count - 1);
    if (r.exchange != nullptr) {
        head.id = add_waiting({r.exchange, l.rank, r.fetched_to, r.fetched_bytes});
        ++l.fetches;
        l.fetched_by_batch += r.fetched_bytes;
    }
    const size_t at = l.batch.size();
    for (size_t i = 0; i < r.count; ++i) {
        const wire::RmaPiece p{reinterpret_cast<uint64_t>(r.pieces[i].iov_base), r.pieces[i].iov_len};
        if (i == 0) {
            head.piece = p;
            append(l.batch, &head, sizeof head);
        } else {
            append(l.batch, &p, sizeof p);
        }
    }
    if (r.count == 0) append(l.batch, &head, sizeof head);
    const size_t data_at = l.batch.size();
    l.batch.resize(data_at + wire::rma_filled(r.data_bytes));
    load(r.data, r.data_from, l.batch.data() + data_at, r.data_bytes);
    l.bytes += l.batch.size() - at + r.fetched_bytes;
}

void Window::Messages::add(Link& l, const Request& r) {
    const size_t room = 2 * sizeof(wire::RmaRequest) + r.count * sizeof(wire::RmaPiece) +
                        wire::rma_filled(r.data_bytes); // with one for the lock
    const auto is_full = [&] {
        return l.batch.size() + room > l.longest_batch ||
               l.fetched_by_batch + r.fetched_bytes > l.longest_batch;
    };
    while (!l.batch.empty() && is_full()) { // another thread may add while this one waits
        const uint64_t since_asked = l.bytes - (l.marks.empty() ? l.bytes_done : l.marks.back().bytes);
        push(l, since_asked > bytes_per_answer);
        limit_bytes(l);
    }
    if (l.held == Held::wanted_shared || l.held == Held::wanted_exclusive) {
        const bool exclusive = std::exchange(l.held, Held::asked) == Held::wanted_exclusive;
        append_request(l, {exclusive ? wire::RmaKind::lock_exclusive : wire::RmaKind::lock_shared});
    }
    append_request(l, r);
}

void Window::Messages::push(Link& l, bool wants_answer) {
    if (l.batch.empty()) return;
    ++l.sent;
    const wire::RmaBatch head{l.sent, epoch_, wants_answer ? wire::rma_wants_answer : 0, 0};
    std::memcpy(l.batch.data(), &head, sizeof head);
    if (wants_answer || l.fetched_by_batch != 0) {
        l.asked = l.sent;
        l.marks.push_back({l.sent, l.bytes});
    }
    l.fetched_by_batch = 0;
    Bytes batch;
    batch.swap(l.batch);
    send(l.rank, batch_tag, std::move(batch));
}

void Window::Messages::push_all(bool want_answers) {
    for (const auto& l : links_)
        if (l != nullptr) want_answers ? ask(*l) : push(*l, false);
}

void Window::Messages::ask(Link& l) {
    if (l.settled()) return;
    if (l.batch.empty()) {
        if (l.asked == l.sent) return;
        l.batch.resize(sizeof(wire::RmaBatch));
    }
    push(l, true);
}

// A target that is slow is not buried under what it has not looked at.
void Window::Messages::limit_bytes(Link& l) {
    if (l.bytes_out() <= most_bytes_out) return;
    window_.await(
        [](const Window& w, int64_t rank) {
            return w.messages_->known_link(static_cast<int>(rank))->bytes_out() <= most_bytes_out;
        },
        l.rank, l.rank);
}

void Window::Messages::post_to(int origin) {
    const wire::RmaBatch head{0, epoch_, wire::rma_posts, 0};
    Bytes message;
    append(message, &head, sizeof head);
    send(origin, batch_tag, std::move(message));
}

void Window::Messages::ask_apart(int target, wire::RmaKind kind) {
    const wire::RmaBatch head{0, 0, wire::rma_apart, 0};
    const wire::RmaRequest request{kind, 0, 0, 0, 0, 0, {}};
    Bytes message;
    append(message, &head, sizeof head);
    append(message, &request, sizeof request);
    send(target, batch_tag, std::move(message));
}

void Window::Messages::ask_for_way(int target, const std::string& text) {
    const wire::RmaBatch head{0, epoch_, wire::rma_connects, 0};
    Bytes message;
    append(message, &head, sizeof head);
    append(message, text.data(), text.size());
    send(target, batch_tag, std::move(message));
}

void Window::Messages::accept_way(int from, const std::byte* text, size_t bytes) {
    std::string answer;
    if (window_.on_device_ != nullptr)
        answer = window_.on_device_->device.accept({reinterpret_cast<const char*>(text), bytes});
    const wire::RmaAnswer head{0, 0, wire::rma_connected, 0};
    Bytes message;
    append(message, &head, sizeof head);
    append(message, answer.data(), answer.size());
    send(from, answer_tag, std::move(message));
}

void Window::Messages::take_way(int from, const std::byte* text, size_t bytes) {
    if (window_.on_device_ == nullptr || from < 0 || from >= window_.team_.size) return;
    Device& device = window_.on_device_->device;
    device.connect(device.way_to(window_.team_.map.world(from)),
                   {reinterpret_cast<const char*>(text), bytes});
    window_.team().lane->wake_threads();
}

bool Window::Messages::all_settled() const {
    for (const auto& l : links_)
        if (l != nullptr && !l->settled()) return false;
    return true;
}

void Window::Messages::count_batches(uint32_t* counts) {
    for (const auto& l : links_) {
        if (l == nullptr) continue;
        counts[l->rank] = l->sent - l->counted;
        l->counted = l->sent;
    }
}

bool Window::Messages::take_reply(Link& l, const wire::RmaReply& reply, const std::byte* data) {
    if (reply.id >= waiting_.size()) return false;
    Waiting& w = waiting_[reply.id];
    if (w.exchange == nullptr || w.rank != l.rank) return false;
    Exchange& exchange = *w.exchange;
    if (reply.refused != 0)
        exchange.error = not_in_window(l.rank);
    else if (reply.bytes == w.bytes)
        store(exchange.result, w.to, data, w.bytes);
    else
        return false;
    w.exchange = nullptr;
    free_.push_back(reply.id);
    --l.fetches;
    --fetches_;
    exchange.part_done();
    return true;
}

void Window::Messages::take_answer(int from, const std::byte* message, size_t bytes) {
    wire::RmaAnswer head{};
    if (bytes < sizeof head) return;
    std::memcpy(&head, message, sizeof head);
    if ((head.flags & wire::rma_connected) != 0)
        return take_way(from, message + sizeof head, bytes - sizeof head);
    Link* const l = known_link(from);
    if (l == nullptr) return;
    for (size_t at = sizeof head; at < bytes;) {
        wire::RmaReply reply{};
        if (bytes - at < sizeof reply) return;
        std::memcpy(&reply, message + at, sizeof reply);
        at += sizeof reply;
        if (reply.bytes > bytes - at || wire::rma_filled(reply.bytes) > bytes - at) return;
        if (!take_reply(*l, reply, message + at)) return;
        at += wire::rma_filled(reply.bytes);
    }
    if (head.refused != 0) window_.failure_ = not_in_window(from);
    if (head.served - l->done <= l->sent - l->done) l->done = head.served;
    for (; !l->marks.empty() && static_cast<int32_t>(l->done - l->marks.front().number) >= 0;
         l->marks.pop_front())
        l->bytes_done = l->marks.front().bytes;
    window_.team().lane->wake_threads();
}

} // namespace zipmpi::proto::rma
