// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "carrier.hpp"

#include <sys/eventfd.h>

namespace zipmpi::simulation {
namespace {

constexpr size_t max_batched_frame = 2U << 10;

} // namespace

SimulatedNetwork::SimulatedNetwork(Carrier& carrier, Process& process, int cluster,
                                   const transport::NetworkConfig& settings, transport::FrameListener& frames)
    : carrier_(carrier)
    , process_(process)
    , id_(settings.world_rank)
    , cluster_(cluster)
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
    if (link.connection == 0) link.connection = carrier_.dial(id_, id, cluster_);
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
    if (item.kind == Item::Kind::hello) return on_hello(link, item);
    if (item.connection != link.connection) return; // of an earlier connection
    switch (item.kind) {
    case Item::Kind::reply:
        post(link, Item::Kind::confirm);
        return opened(link);
    case Item::Kind::confirm:
        return opened(link);
    case Item::Kind::closed:
        return on_closed(link);
    default:
        static_cast<void>(frames_.frame_arrived({peer, item.from, item.head, item.data, nullptr}));
    }
}

// If both dial at once, the connection of the lower id is used.
void SimulatedNetwork::on_hello(Link& link, const Item& item) {
    const bool dials = link.connection != 0 && !link.open;
    if (dials && id_ < item.from) return;
    if (link.open) { // the peer has reset its connection, or was restarted
        disconnect(link);
        listener_.peer_failed(number_of(link.id), "the peer has reset the connection");
    }
    link.connection = item.connection;
    link.open = link.failed = false;
    post(link, Item::Kind::reply);
}

void SimulatedNetwork::opened(Link& link) {
    link.open = true;
    carrier_.print(process_.name() + " is connected to " + std::to_string(link.id));
    frames_.peer_connected(number_of(link.id), link.id);
}

void SimulatedNetwork::on_closed(Link& link) {
    disconnect(link);
    link.failed = true;
    carrier_.print(process_.name() + " has lost its connection to " + std::to_string(link.id));
    listener_.peer_failed(number_of(link.id), "the connection ended");
}

void SimulatedNetwork::disconnect(Link& link) {
    carrier_.close(link.connection, id_);
    link.connection = 0;
    link.open = false;
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
}

void SimulatedNetwork::post(Link& link, Item::Kind kind) {
    carrier_.transmit({kind, link.connection, id_, {}, {}}, link.id);
}

PostStatus SimulatedNetwork::send_frame(Peer peer, std::span<const std::byte> head,
                                        std::span<const std::byte> data, FrameTicket* ticket,
                                        transport::Batching batching) {
    Link& link = links_[peer];
    if (link.failed || link.connection == 0) return PostStatus::failed;
    if (!link.open) return PostStatus::would_block;
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
        if (!link.open) continue; // lost with its connection
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
    if (!link.open || link.queue.empty()) return;
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
