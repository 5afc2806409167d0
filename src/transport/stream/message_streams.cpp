// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/stream/message_streams.hpp"

#include "transport/stream/sockets.hpp"

#include <algorithm>
#include <sys/epoll.h>
#include <utility>

namespace zipmpi::transport::stream {
namespace {

// Keys of descriptors that are not of connections.
constexpr uint64_t of_other = UINT64_MAX;
constexpr uint64_t of_listener = uint64_t{1} << 62;
// A poll is a system call: the connection that was active last is read every time, the others at intervals.
constexpr uint32_t poll_interval = 4;
constexpr uint32_t timeout_interval = 16;

} // namespace

MessageStreams::MessageStreams(const Config& config, PeerSet& peers)
    : listener_(config.listener)
    , peers_(peers)
    , writer_(table_, listener_)
    , setup_({config.own, config.sealing}, peers_, table_, writer_)
    , sender_(peers_, table_, setup_, writer_)
    , reader_({peers_, table_, setup_, sender_, transfers_, listener_, config.relays})
    , sweeper_(peers_, table_, transfers_, listener_) {}

bool MessageStreams::listen(std::vector<os::Fd> listeners) {
    listening_ = std::move(listeners);
    bool all = table_.descriptor() >= 0 && !listening_.empty();
    for (size_t i = 0; i < listening_.size(); ++i)
        all = table_.watch_descriptor(listening_[i].get(), of_listener | i) && all;
    return all;
}

bool MessageStreams::watch(int descriptor) { return table_.watch_descriptor(descriptor, of_other); }

PostStatus MessageStreams::send(int peer, const wire::Envelope& envelope, const std::byte* payload,
                                const BufferRef& data, Timing timing) {
    FrameHeader head;
    head.bytes = data.bytes;
    head.envelope = envelope;
    return sender_.post(peer, head, payload, data, timing);
}

PostStatus MessageStreams::send_rendezvous(int peer, const wire::Envelope& envelope, const std::byte* payload,
                                           const BufferRef& data) {
    FrameHeader head;
    head.kind = FrameHeader::Kind::rts;
    head.number = transfers_.new_number();
    head.bytes = data.bytes;
    head.envelope = envelope;
    if (sender_.post(peer, head, payload, {}) == PostStatus::failed) return PostStatus::failed;
    transfers_.add_send({peer, head.number}, data);
    return PostStatus::in_flight;
}

bool MessageStreams::fetch(IncomingBulk& bytes, const BufferRef& to) {
    const std::optional<BulkKey> key = transfers_.take_announced(bytes);
    if (!key) return false;
    transfers_.start_fetch(*key, to);
    if (sender_.post(key->peer, FrameHeader::Kind::pull, key->number) == PostStatus::failed)
        listener_.fetch_finished(transfers_.end_fetch(*key), OpStatus::failed);
    return true;
}

bool MessageStreams::drop(IncomingBulk& bytes) {
    const std::optional<BulkKey> key = transfers_.take_announced(bytes);
    if (key) static_cast<void>(sender_.post(key->peer, FrameHeader::Kind::refuse, key->number));
    return key.has_value();
}

void MessageStreams::read(Connection& c) {
    const int before = table_.events();
    reader_.read_in(c);
    if (table_.events() != before && c.is_open()) active_ = &c;
}

int MessageStreams::progress() {
    table_.begin_poll();
    writer_.flush();
    if (active_ != nullptr) read(*active_);
    if (std::exchange(polls_all_, false) || active_ == nullptr || table_.has_blocked() ||
        table_.poll_id() % poll_interval == 0)
        poll_events();
    if (table_.poll_id() % timeout_interval == 0) setup_.check_timeouts();
    if (table_.needs_sweep() || peers_.has_failures()) sweep();
    sweeper_.check_lost();
    return table_.events();
}

void MessageStreams::poll_events() {
    constexpr int at_once = 64;
    epoll_event events[at_once];
    const int n = epoll_wait(table_.descriptor(), events, at_once, 0);
    for (int i = 0; i < n; ++i) {
        const uint64_t key = events[i].data.u64;
        if (key == of_other) continue;
        if ((key & of_listener) != 0)
            setup_.accept_connection(listening_[key & ~of_listener].get());
        else if (Connection* const c = table_.find(key))
            handle_events(*c, events[i].events);
    }
}

void MessageStreams::handle_events(Connection& c, uint32_t events) {
    if (c.is_broken()) return;
    if (c.state == Connection::State::dialing) return setup_.on_connected(c);
    if ((events & EPOLLOUT) != 0 && c.is_open()) writer_.write_out(c);
    if (c.fd && (events & ~static_cast<uint32_t>(EPOLLOUT)) != 0) read(c);
}

bool MessageStreams::arm() {
    const int before = table_.events();
    writer_.flush();
    polls_all_ = true; // what wakes the caller may be on any connection
    return table_.events() == before;
}

bool MessageStreams::idle() const {
    if (transfers_.has_sends() || table_.needs_sweep()) return false;
    return std::ranges::all_of(table_.all(), [](const auto& one) {
        return one.second->peer < 0 || !one.second->has_output(); // or unauthenticated
    });
}

void MessageStreams::fail_peer(int peer) {
    peers_.add_failure(peer);
    table_.request_sweep();
}

void MessageStreams::remove_peer(int peer) {
    active_ = nullptr;
    sweeper_.remove_peer(peer);
}

void MessageStreams::sweep() {
    active_ = nullptr;
    sweeper_.sweep();
}

} // namespace zipmpi::transport::stream
