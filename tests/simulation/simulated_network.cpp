// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "carrier.hpp"

#include "wire/frame_layout.hpp"

#include <algorithm>
#include <cstring>
#include <sys/eventfd.h>

namespace zipmpi::simulation {
namespace {

constexpr size_t max_batched_frame = 2U << 10;
constexpr uint64_t credit_tolerance = 64 << 10; // heads of short frames are not counted alike

wire::Frame frame_of(std::span<const std::byte> head) {
    wire::Frame frame{};
    if (head.size() >= sizeof frame) std::memcpy(&frame, head.data(), sizeof frame);
    return frame;
}

} // namespace

SimulatedNetwork::SimulatedNetwork(Carrier& carrier, Process& process, int cluster,
                                   const transport::NetworkConfig& settings, transport::FrameListener& frames)
    : carrier_(carrier)
    , process_(process)
    , id_(settings.world_rank)
    , cluster_(cluster)
    , session_(carrier.new_session())
    , listener_(*settings.listener)
    , frames_(frames)
    , address_(std::to_string(id_))
    , descriptor_(eventfd(0, EFD_CLOEXEC)) {
    carrier_.add(*this);
}

SimulatedNetwork::~SimulatedNetwork() {
    for (Link& link : links_) report_sent(link);
    for (FrameTicket* const ticket : sent_)
        if (!abandoned_) frames_.frame_sent(ticket);
    carrier_.remove(*this);
}

Peer SimulatedNetwork::number_of(int id) {
    const auto [found, added] = by_id_.emplace(id, static_cast<Peer>(links_.size()));
    if (added) links_.push_back({id});
    return found->second;
}

int SimulatedNetwork::connect_to(int id) {
    const Peer peer = number_of(id);
    Link& link = links_[peer];
    if (link.failed) return -1;
    if (link.connection == 0) {
        link.connection = carrier_.dial(id_, id, cluster_, session_ + link.resets);
        link.connections.emplace(link.connection, Connection{});
    }
    return static_cast<int>(peer);
}

void SimulatedNetwork::arrive(Item item) {
    inbox_.push_back(std::move(item));
    process_.wake();
}

int SimulatedNetwork::progress() {
    int happened = 0;
    flush_batches();
    for (FrameTicket* const ticket : std::exchange(sent_, {})) {
        frames_.frame_sent(ticket);
        ++happened;
    }
    for (size_t n = inbox_.size(); n > 0; --n) {
        Item item = std::move(inbox_.front());
        inbox_.pop_front();
        handle(item);
        carrier_.consumed(item);
        ++happened;
    }
    return happened;
}

void SimulatedNetwork::handle(Item& item) {
    const Peer peer = number_of(item.from);
    Link& link = links_[peer];
    if (item.kind == Item::Kind::hello) {
        link.connections[item.connection] = {Connection::State::accepted, item.session};
        return carrier_.transmit({Item::Kind::reply, item.connection, id_, {}, {}}, link.id);
    }
    if (!link.connections.contains(item.connection)) return; // it was ended here
    switch (item.kind) {
    case Item::Kind::reply:
        return on_reply(link, item.connection);
    case Item::Kind::confirm:
        return on_confirm(link, item.connection);
    case Item::Kind::closed:
        return on_closed(link, item.connection);
    default:
        on_credit(link, item.head);
        static_cast<void>(frames_.frame_arrived({peer, item.from, item.head, item.data, nullptr}));
    }
}

void SimulatedNetwork::on_reply(Link& link, uint64_t connection) {
    carrier_.transmit({Item::Kind::confirm, connection, id_, {}, {}}, link.id);
    link.connections[connection].state = Connection::State::open;
    if (link.connection == connection) opened(link);
}

// A connection that the peer has dialed is used for both directions, unless there is another open one.
void SimulatedNetwork::on_confirm(Link& link, uint64_t connection) {
    const uint64_t session = link.connections[connection].session;
    const uint64_t before = std::exchange(link.session, session);
    if (before != 0 && before != session) { // the peer has reset its connections, or was restarted
        disconnect(link);
        if (!link.failed) listener_.peer_failed(number_of(link.id), "the peer has reset the connection");
    }
    link.failed = false;
    link.connections[connection].state = Connection::State::open;
    if (link.is_open()) return;
    link.connection = connection;
    opened(link);
}

void SimulatedNetwork::opened(Link& link) {
    link.uncredited = 0;
    carrier_.print(process_.name() + " is connected to " + std::to_string(link.id));
    frames_.peer_connected(number_of(link.id), link.id);
}

// The peer has failed if it was open, or if none else is.
void SimulatedNetwork::on_closed(Link& link, uint64_t connection) {
    const Connection::State state = link.connections.extract(connection).mapped().state;
    if (state == Connection::State::accepted) return;
    const auto open = std::ranges::find_if(
        link.connections, [](const auto& other) { return other.second.state == Connection::State::open; });
    if (state == Connection::State::dialed && open != link.connections.end()) {
        if (link.connection == connection) link.connection = open->first;
        return;
    }
    if (std::exchange(link.failed, true)) return;
    disconnect(link);
    carrier_.print(process_.name() + " has lost its connection to " + std::to_string(link.id));
    listener_.peer_failed(number_of(link.id), "the connection ended");
}

// Those that the peer dials remain: it may have reset its own.
void SimulatedNetwork::disconnect(Link& link) {
    std::erase_if(link.connections, [this](const auto& one) {
        if (one.second.state == Connection::State::accepted) return false;
        carrier_.close(one.first, id_);
        return true;
    });
    link.connection = 0;
    link.uncredited = 0;
    report_sent(link);
}

// Of frames that are dropped, too.
void SimulatedNetwork::report_sent(Link& link) {
    for (const Outgoing& frame : std::exchange(link.queue, {})) {
        --outgoing_;
        if (frame.ticket != nullptr && !abandoned_) frames_.frame_sent(frame.ticket);
    }
}

void SimulatedNetwork::reset_peer(Peer peer) {
    Link& link = links_[peer];
    if (link.connection != 0)
        carrier_.print(process_.name() + " resets its connection to " + std::to_string(link.id));
    disconnect(link);
    link.failed = false;
    ++link.resets;
}

// Of ranks: the gateway returns credit for what it has forwarded.
void SimulatedNetwork::check_credit(Link& link, std::span<const std::byte> head, uint64_t data_bytes) {
    const wire::Frame frame = frame_of(head);
    if (frame.from != id_ || (frame.type != wire::FrameType::message && frame.type != wire::FrameType::chunk))
        return;
    if (link.uncredited != 0 && link.uncredited + data_bytes > carrier_.limits.credit + credit_tolerance)
        carrier_.fail(process_.name() + " sends more to " + std::to_string(link.id) + " than its credit");
    link.uncredited += head.size() + data_bytes;
}

void SimulatedNetwork::on_credit(Link& link, std::span<const std::byte> head) {
    const wire::Frame frame = frame_of(head);
    if (frame.type == wire::FrameType::credit) link.uncredited -= std::min(frame.length, link.uncredited);
}

PostStatus SimulatedNetwork::send_frame(Peer peer, std::span<const std::byte> head,
                                        std::span<const std::byte> data, FrameTicket* ticket,
                                        transport::Batching batching) {
    Link& link = links_[peer];
    if (link.failed || link.connection == 0) return PostStatus::failed;
    if (!link.is_open()) return PostStatus::would_block;
    check_credit(link, head, data.size());
    if (batching == transport::Batching::allowed && data.empty() && head.size() <= max_batched_frame) {
        batched_.push_back({peer, {head.begin(), head.end()}});
        return PostStatus::done;
    }
    const bool referenced = ticket != nullptr && !data.empty();
    Outgoing& frame = link.queue.emplace_back();
    frame.head.assign(head.begin(), head.end());
    if (referenced) {
        frame.data = data;
        frame.ticket = ticket;
    } else {
        frame.copy.assign(data.begin(), data.end());
    }
    ++outgoing_;
    pump(link);
    return referenced ? PostStatus::in_flight : PostStatus::done;
}

void SimulatedNetwork::flush_batches() {
    for (Batched& b : std::exchange(batched_, {})) {
        Link& link = links_[b.peer];
        if (!link.is_open()) continue; // lost with its connection
        link.queue.emplace_back().head = std::move(b.head);
        ++outgoing_;
        pump(link);
    }
}

void SimulatedNetwork::pump(int to) {
    if (const auto found = by_id_.find(to); found != by_id_.end()) pump(links_[found->second]);
}

// The kernel takes one frame after the other, and reads the data of each only then.
void SimulatedNetwork::pump(Link& link) {
    if (link.pumping || link.queue.empty() || !carrier_.can_transmit(link.connection, id_)) return;
    link.pumping = true;
    carrier_.transmit_later(id_, link.id, cluster_);
}

void SimulatedNetwork::transmit_next(int to) {
    Link& link = links_[number_of(to)];
    link.pumping = false;
    if (!link.is_open() || link.queue.empty()) return;
    Outgoing frame = std::move(link.queue.front());
    link.queue.pop_front();
    --outgoing_;
    const std::span<const std::byte> data = frame.ticket != nullptr ? frame.data : frame.copy;
    carrier_.transmit(
        {Item::Kind::frame, link.connection, id_, std::move(frame.head), {data.begin(), data.end()}}, to);
    if (frame.ticket != nullptr) {
        sent_.push_back(frame.ticket);
        process_.wake();
    }
    pump(link);
}

} // namespace zipmpi::simulation
