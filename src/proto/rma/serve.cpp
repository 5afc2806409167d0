// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The target's side of operations by messages. Everything in a batch is checked before it is used.
#include "os/clock.hpp"
#include "proto/rma/messages.hpp"
#include "proto/rma/on_device.hpp"

#include <algorithm>
#include <sched.h>

namespace zipmpi::proto::rma {
namespace {

constexpr int answer_tag = 1;

bool gives_back(wire::RmaKind kind) {
    return kind == wire::RmaKind::get || kind == wire::RmaKind::get_accumulate ||
           kind == wire::RmaKind::compare_and_swap;
}

bool read_head(const std::byte* batch, size_t bytes, wire::RmaBatch& head) {
    if (bytes < sizeof head) return false;
    std::memcpy(&head, batch, sizeof head);
    return true;
}

} // namespace

Window::Messages::Stream& Window::Messages::stream(Streams& streams, int rank) {
    auto& s = streams[static_cast<size_t>(rank)];
    if (s == nullptr) {
        s = std::make_unique<Stream>();
        s->rank = rank;
    }
    return *s;
}

void Window::Messages::take_batch(int from, const std::byte* message, size_t bytes) {
    wire::RmaBatch head{};
    if (from < 0 || from >= window_.team_.size || !read_head(message, bytes, head)) return;
    if ((head.flags & wire::rma_posts) != 0) {
        window_.take_post(from);
        return window_.team_.lane->wake_threads();
    }
    if ((head.flags & wire::rma_connects) != 0)
        return accept_way(from, message + sizeof head, bytes - sizeof head);
    if ((head.flags & wire::rma_apart) != 0) return take_apart(from, message, bytes);
    Stream& s = stream(streams_, from);
    if (head.number != s.taken + 1) return;
    s.taken = head.number;
    const bool waits = !s.kept.empty();
    const bool early = static_cast<int32_t>(head.epoch - epoch_) > 0;
    s.at = waits ? s.at : sizeof head;
    if (!waits && !early && serve_batch(s, message, bytes) != Served::waits) return;
    s.kept.emplace_back(message, message + bytes);
    if (waits) return;
    keeping_.push_back(&s);
    window_.team_.lane->watch(watch_);
}

void Window::Messages::take_apart(int from, const std::byte* message, size_t bytes) {
    wire::RmaRequest request{};
    if (bytes != sizeof(wire::RmaBatch) + sizeof request) return;
    std::memcpy(&request, message + sizeof(wire::RmaBatch), sizeof request);
    if (request.kind < wire::RmaKind::give_way || request.more_pieces != 0 || request.data_bytes != 0) return;
    Stream& s = stream(apart_streams_, from);
    s.kept.emplace_back(message, message + bytes);
    if (s.kept.size() > 1) return;
    s.at = sizeof(wire::RmaBatch);
    if (go_on(s)) return;
    keeping_.push_back(&s);
    window_.team_.lane->watch(watch_);
}

// From s.at on.
Window::Messages::Served Window::Messages::serve_batch(Stream& s, const std::byte* batch, size_t bytes) {
    wire::RmaBatch head{};
    static_cast<void>(read_head(batch, bytes, head));
    Served result = Served::done;
    while (s.at < bytes && result == Served::done) {
        wire::RmaRequest request{};
        if (bytes - s.at < sizeof request) break;
        std::memcpy(&request, batch + s.at, sizeof request);
        const uint64_t rest =
            request.more_pieces * sizeof(wire::RmaPiece) + wire::rma_filled(request.data_bytes);
        if (rest > bytes - s.at - sizeof request) break;
        result = serve_request(s, request, batch + s.at + sizeof request);
        s.at += sizeof request + rest;
    }
    if (result != Served::waits && (head.flags & wire::rma_apart) == 0) {
        s.served = head.number;
        ++served_;
    }
    const bool wanted = result != Served::waits && (head.flags & wire::rma_wants_answer) != 0;
    if (wanted || !s.answer.empty()) send_answer(s);
    window_.team_.lane->wake_threads();
    return result;
}

// True: the stream has nothing left that waits.
bool Window::Messages::go_on(Stream& s) {
    while (!s.kept.empty()) {
        if (s.awaited != Stream::Lock::no) {
            const bool exclusive = s.awaited == Stream::Lock::exclusive;
            FairLock l(window_.members_[window_.team_.rank].lock);
            const FairLock::Turn turn = l.look(*window_.team_.lane, exclusive, s.ticket);
            if (turn == FairLock::Turn::unknown) restless_ = true;
            if (turn != FairLock::Turn::come) return false;
            s.lock = std::exchange(s.awaited, Stream::Lock::no);
            got_lock(s);
        }
        wire::RmaBatch head{};
        const Bytes& first = s.kept.front();
        static_cast<void>(read_head(first.data(), first.size(), head));
        if (static_cast<int32_t>(head.epoch - epoch_) > 0) return false;
        if (serve_batch(s, first.data(), first.size()) == Served::waits) return false;
        s.kept.pop_front();
        s.at = sizeof head;
    }
    return true;
}

int Window::Messages::look_at_kept() {
    restless_ = false;
    const size_t before = keeping_.size();
    std::erase_if(keeping_, [this](Stream* s) { return go_on(*s); });
    if (keeping_.empty()) window_.team_.lane->unwatch(watch_);
    if (restless_) sched_yield(); // so many wait before us that nobody would wake us
    return static_cast<int>(before - keeping_.size()) + (restless_ ? 1 : 0);
}

void Window::Messages::next_epoch(uint32_t served_before) {
    served_ -= served_before;
    ++epoch_;
    if (!keeping_.empty()) look_at_kept();
}

// Of a hybrid lock the origin is told whether it has it, or finds it on the network. After enough requests in
// a row the network gets it.
Window::Messages::Served Window::Messages::lock(Stream& s, const wire::RmaRequest& head) {
    if (s.lock != Stream::Lock::no) return Served::nonsense;
    const OnDevice* const on = window_.on_device_.get();
    const bool exclusive = head.kind == wire::RmaKind::lock_exclusive || head.kind == wire::RmaKind::give_way;
    const bool hybrid = on != nullptr && on->locks == OnDevice::Locks::hybrid;
    const bool wants_lock = head.kind <= wire::RmaKind::lock_exclusive;
    if (!wants_lock && !hybrid) return Served::nonsense;
    s.is_told = hybrid && wants_lock;
    s.lock_id = head.id;
    s.gives_way = hybrid && !s.is_told;
    if (s.is_told) {
        NodeShare share(window_.members_[window_.team_.rank].network_lock);
        s.gives_way = share.note_request(on->turns);
    }
    const Served result = draw(s, exclusive);
    if (result == Served::done) got_lock(s);
    return result;
}

void Window::Messages::got_lock(Stream& s) {
    if (!s.is_told && !s.gives_way) return;
    const bool exclusive = s.lock == Stream::Lock::exclusive;
    NodeShare share(window_.members_[window_.team_.rank].network_lock);
    if (exclusive && share.is_open())
        window_.leave_as_reader(window_.team_.rank);
    else if (exclusive && s.gives_way && share.keeps())
        share.give_way();
    else if (s.gives_way)
        share.open();
    const uint64_t got = share.keeps() && !s.gives_way ? 1 : 0;
    if (got == 0) unlock(s);
    if (s.is_told)
        if (std::byte* const told = add_reply(s, s.lock_id, sizeof got, false); told != nullptr)
            std::memcpy(told, &got, sizeof got);
}

Window::Messages::Served Window::Messages::draw(Stream& s, bool exclusive) {
    const Stream::Lock wanted = exclusive ? Stream::Lock::exclusive : Stream::Lock::shared;
    FairLock l(window_.members_[window_.team_.rank].lock);
    if (l.draw(exclusive, s.ticket)) {
        s.lock = wanted;
        return Served::done;
    }
    s.awaited = wanted;
    return Served::waits;
}

void Window::Messages::unlock(Stream& s) {
    FairLock l(window_.members_[window_.team_.rank].lock);
    Lane& lane = *window_.team_.lane;
    s.lock == Stream::Lock::exclusive ? l.unlock_exclusive(lane) : l.unlock_shared(lane);
    s.lock = Stream::Lock::no;
}

Window::Messages::Served Window::Messages::serve_request(Stream& s, const wire::RmaRequest& head,
                                                         const std::byte* rest) {
    switch (head.kind) {
    case wire::RmaKind::lock_shared:
    case wire::RmaKind::lock_exclusive:
    case wire::RmaKind::give_way:
    case wire::RmaKind::let_readers_in:
        return lock(s, head);
    case wire::RmaKind::unlock:
        if (s.lock == Stream::Lock::no) return Served::nonsense;
        unlock(s);
        return Served::done;
    case wire::RmaKind::complete:
        window_.members_[window_.team_.rank].completed.fetch_add(1, std::memory_order_seq_cst);
        return Served::done;
    default:
        break;
    }
    pieces_.clear();
    pieces_bytes_ = 0;
    bool good = head.kind <= wire::RmaKind::compare_and_swap && place(head.piece);
    for (uint32_t i = 0; good && i < head.more_pieces; ++i) {
        wire::RmaPiece p{};
        std::memcpy(&p, rest + i * sizeof p, sizeof p);
        good = place(p);
    }
    good = good && access(s, head, rest + head.more_pieces * sizeof(wire::RmaPiece));
    if (!good && gives_back(head.kind))
        add_reply(s, head.id, 0, true);
    else if (!good)
        ++s.refused;
    return Served::done;
}

// A piece of the own region, checked.
bool Window::Messages::place(const wire::RmaPiece& p) {
    const Region& own = window_.regions_[static_cast<size_t>(window_.team_.rank)];
    const bool inside = own.size == everywhere ? window_.is_attached(p.offset, p.bytes)
                                               : p.offset <= own.size && p.bytes <= own.size - p.offset;
    if (!inside || p.bytes > wire::rma_message_bytes - pieces_bytes_) return false;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): checked
    pieces_.push_back({reinterpret_cast<void*>(own.base + p.offset), p.bytes});
    pieces_bytes_ += p.bytes;
    return true;
}

// Answers are cut where they would become too long; null: a reply that cannot be.
std::byte* Window::Messages::add_reply(Stream& s, uint32_t id, uint64_t bytes, bool refused) {
    const uint64_t room = sizeof(wire::RmaReply) + wire::rma_filled(bytes);
    if (room > wire::rma_message_bytes - sizeof(wire::RmaAnswer)) return nullptr;
    if (!s.answer.empty() && s.answer.size() + room > wire::rma_message_bytes) send_answer(s);
    if (s.answer.empty()) s.answer.resize(sizeof(wire::RmaAnswer));
    const size_t at = s.answer.size();
    s.answer.resize(at + room);
    const wire::RmaReply reply{id, refused ? 1U : 0U, bytes};
    std::memcpy(s.answer.data() + at, &reply, sizeof reply);
    return s.answer.data() + at + sizeof reply;
}

void Window::Messages::send_answer(Stream& s) {
    if (s.answer.empty()) s.answer.resize(sizeof(wire::RmaAnswer));
    const wire::RmaAnswer head{s.served, std::exchange(s.refused, 0), 0, 0};
    std::memcpy(s.answer.data(), &head, sizeof head);
    send(s.rank, answer_tag, std::exchange(s.answer, {}));
}

bool Window::Messages::access(Stream& s, const wire::RmaRequest& head, const std::byte* data) {
    if (head.kind == wire::RmaKind::put) {
        if (head.data_bytes != pieces_bytes_) return false;
        scatter(pieces_.data(), pieces_.size(), data);
        return true;
    }
    if (!gives_back(head.kind)) return accumulate(head, data, nullptr);
    std::byte* const fetched = add_reply(s, head.id, pieces_bytes_, false);
    if (fetched == nullptr) return false;
    const auto before = static_cast<size_t>(fetched - s.answer.data()) - sizeof(wire::RmaReply);
    if (head.kind == wire::RmaKind::get) {
        gather(pieces_.data(), pieces_.size(), fetched);
        return true;
    }
    const bool good = head.kind == wire::RmaKind::get_accumulate ? accumulate(head, data, fetched)
                                                                 : swap(head, data, fetched);
    if (!good) s.answer.resize(before); // another one says so
    return good;
}

bool Window::Messages::swap(const wire::RmaRequest& head, const std::byte* data, std::byte* fetched) {
    Swap swap;
    if (pieces_.size() != 1 || !window_.codes_.swap(head.combine, swap) || pieces_bytes_ != swap.bytes ||
        head.data_bytes != 2 * uint64_t{swap.bytes})
        return false;
    swap_element(swap, static_cast<std::byte*>(pieces_[0].iov_base), data, data + swap.bytes, fetched,
                 window_.guard_for_others());
    return true;
}

bool Window::Messages::accumulate(const wire::RmaRequest& head, const std::byte* data, std::byte* fetched) {
    Combine c;
    if (!window_.codes_.combine(head.combine, c) || (c.writes() && head.data_bytes != pieces_bytes_) ||
        pieces_bytes_ % c.element_bytes != 0)
        return false;
    const bool by_elements = c.gaps == nullptr && (c.kind == Combine::Kind::combine || c.by_cpu);
    for (size_t i = 0; i < pieces_.size() && by_elements; ++i)
        if (pieces_[i].iov_len % c.element_bytes != 0) return false;
    combine_pieces(c, pieces_.data(), pieces_.size(), c.writes() ? data : nullptr, fetched,
                   window_.guard_for_others(), scratch_);
    return true;
}

} // namespace zipmpi::proto::rma
