// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/send_requests.hpp"

#include <cstring>
#include <rdma/fi_errno.h>
#include <utility>

namespace zipmpi::transport::ofi {
namespace {

constexpr uint64_t stalled_ns = 1'000'000'000;

} // namespace

void SendRequest::append(const void* from, size_t count) {
    if (count != 0) std::memcpy(bytes.data() + used, from, count);
    used += count;
}

SendRequest& SendRequests::acquire(const PeerState& to) {
    if (free_ == nullptr) {
        free_ = &requests_.emplace_back();
        free_->handler = this;
    }
    SendRequest& s = *free_;
    free_ = std::exchange(s.next_free, nullptr);
    s.state = SendRequest::State::open;
    s.to = to.index;
    ++in_flight_;
    return s;
}

void SendRequests::release(SendRequest& s) {
    s.state = SendRequest::State::free;
    s.used = 0;
    s.packed.clear();
    s.in_place = {};
    s.tag.reset();
    s.operation = nullptr;
    s.ticket = nullptr;
    s.bulk.reset();
    s.watched_ns = 0;
    s.next_free = std::exchange(free_, &s);
}

Posted SendRequests::transmit(SendRequest& s) {
    const fi_addr_t to = peers_[s.to].address;
    if (s.tag.has_value()) return endpoint_.send_tagged(to, s.in_place, *s.tag, s);
    const auto piece = [](std::span<const std::byte> memory) {
        return iovec{const_cast<std::byte*>(memory.data()), memory.size()};
    };
    const iovec pieces[2] = {s.packed.empty() ? piece(std::span(s.bytes).first(s.used)) : piece(s.packed),
                             piece(s.in_place)};
    return endpoint_.send(to, std::span(pieces).first(s.in_place.empty() ? 1 : 2), s);
}

SendRequests::Outcome SendRequests::post(SendRequest& s) {
    PeerState& to = peers_[s.to];
    const Posted posted = to.queued.empty() ? transmit(s) : Posted::try_again;
    if (posted == Posted::yes) [[likely]] {
        s.state = SendRequest::State::posted;
        return Outcome::sent;
    }
    if (posted == Posted::failed) {
        if (peers_.record_failure(to, "libfabric cannot send to it")) {
            --in_flight_;
            release(s);
            return Outcome::failed;
        }
        s.state = SendRequest::State::lost;
        return Outcome::queued;
    }
    if (to.queued.empty()) waiting_.push_back(to.index);
    s.state = SendRequest::State::queued;
    to.queued.push_back(&s);
    return Outcome::queued;
}

// Returns false if some remain.
bool SendRequests::send_queued(PeerState& to) {
    while (!to.queued.empty()) {
        SendRequest& s = *to.queued.front();
        const Posted posted = transmit(s);
        if (posted == Posted::try_again) return false;
        to.queued.pop_front();
        if (posted == Posted::failed) {
            fail(s, "libfabric cannot send to it");
            continue;
        }
        s.state = SendRequest::State::posted;
        report_copied(s, OpStatus::done);
    }
    return true;
}

void SendRequests::retry() {
    for (size_t i = 0; i < waiting_.size();) { // listeners may add peers
        if (!send_queued(peers_[waiting_[i]])) {
            ++i;
            continue;
        }
        waiting_[i] = waiting_.back();
        waiting_.pop_back();
    }
}

void SendRequests::report_copied(SendRequest& s, OpStatus outcome) {
    if (s.copied.empty()) return;
    for (NetworkOperation* const operation : std::exchange(s.copied, {})) {
        ++counters_.events;
        listener_.send_finished(operation, outcome);
    }
}

void SendRequests::fail(SendRequest& s, const char* why) {
    if (peers_.record_failure(peers_[s.to], why))
        finish(s, OpStatus::failed);
    else
        s.state = SendRequest::State::lost;
}

// Reports the operations of a request. If libfabric still has it, it is released when it completes.
void SendRequests::finish(SendRequest& s, OpStatus outcome) {
    report_copied(s, outcome);
    NetworkOperation* operation = std::exchange(s.operation, nullptr);
    FrameTicket* const ticket = std::exchange(s.ticket, nullptr);
    if (s.bulk != nullptr && (--s.bulk->segments_left == 0 || outcome == OpStatus::failed))
        operation = std::exchange(s.bulk->data.operation, nullptr);
    ++counters_.events;
    --in_flight_;
    if (s.state == SendRequest::State::posted)
        s.state = SendRequest::State::abandoned;
    else
        release(s);
    if (ticket != nullptr) frames_->frame_sent(ticket);
    if (operation != nullptr) listener_.send_finished(operation, outcome);
}

void SendRequests::completed(OperationContext& operation, const Completion& completion) {
    auto& s = static_cast<SendRequest&>(operation);
    if (std::exchange(s.state, SendRequest::State::open) == SendRequest::State::abandoned)
        release(s);
    else if (completion.error == 0) [[likely]]
        finish(s, OpStatus::done);
    else
        fail(s, fi_strerror(completion.error));
}

std::vector<Peer> SendRequests::find_stalled() {
    const uint64_t now = os::now_ns();
    std::vector<Peer> found;
    for (SendRequest& s : requests_) {
        if (s.state == SendRequest::State::free || s.state == SendRequest::State::abandoned ||
            !peers_.may_have_ended(peers_[s.to]))
            continue;
        if (s.watched_ns == 0) s.watched_ns = now;
        const bool is_known = !found.empty() && found.back() == s.to;
        if (now - s.watched_ns >= stalled_ns && !is_known) found.push_back(s.to);
    }
    return found;
}

void SendRequests::abandon(PeerState& peer) {
    peer.queued.clear();
    std::erase(waiting_, peer.index);
    peer.batch = nullptr;
    for (size_t i = 0; i < requests_.size(); ++i) { // listeners may add requests
        SendRequest& s = requests_[i];
        if (s.to == peer.index && s.state != SendRequest::State::free &&
            s.state != SendRequest::State::abandoned)
            finish(s, OpStatus::failed);
    }
}

} // namespace zipmpi::transport::ofi
