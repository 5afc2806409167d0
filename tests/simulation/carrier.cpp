// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "carrier.hpp"

#include "transport/engine.hpp"
#include "wire/frame_layout.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::simulation {
namespace {

constexpr uint64_t keepalive_ns = 7 * second; // until the kernel notices a silent connection
constexpr uint64_t late_ns = 1300 * ms;       // longer than a retransmission takes

Carrier*& current_carrier() {
    static Carrier* carrier = nullptr;
    return carrier;
}

// Frames between endpoints, which gateways may lose; control frames of a hop are as reliable as its
// connection.
bool is_forwarded(const Item& item) {
    wire::Frame frame{};
    if (item.kind != Item::Kind::frame || item.head.size() < sizeof frame) return false;
    std::memcpy(&frame, item.head.data(), sizeof frame);
    return frame.type < wire::FrameType::credit;
}

} // namespace

Carrier::Carrier(Simulator& simulator)
    : simulator_(simulator) {
    current_carrier() = this;
}

Carrier::~Carrier() { current_carrier() = nullptr; }

Carrier& Carrier::current() { return *current_carrier(); }

SimulatedNetwork* Carrier::find(int id, int cluster) const {
    const auto found = std::ranges::find_if(
        networks_, [&](const SimulatedNetwork* n) { return n->id() == id && n->cluster() == cluster; });
    return found != networks_.end() ? *found : nullptr;
}

void Carrier::remove(SimulatedNetwork& network) {
    std::erase(networks_, &network);
    std::vector<uint64_t> ended;
    for (const auto& [number, c] : connections_)
        if (c.cluster == network.cluster() && (c.ends[0] == network.id() || c.ends[1] == network.id()))
            ended.push_back(number);
    std::ranges::sort(ended);
    for (const uint64_t number : ended) close(number, network.id());
}

void Carrier::abandon(const Process& process) {
    for (SimulatedNetwork* const network : networks_)
        if (network->belongs_to(process)) network->abandon();
}

uint64_t Carrier::dial(int from, int to, int cluster, uint64_t session) {
    connections_.emplace(next_connection_, Connection{{from, to}, cluster});
    transmit({Item::Kind::hello, next_connection_, from, {}, {}, session}, to);
    return next_connection_++;
}

bool Carrier::can_transmit(uint64_t connection, int from) const {
    const auto found = connections_.find(connection);
    return found != connections_.end() && found->second.unread[found->second.side(from)] < limits.window;
}

bool Carrier::apply_faults(Item& item, uint64_t& delay, int to) {
    if (simulator_.now() >= faults_until_ || item.from < faults_.first_gateway || !is_forwarded(item))
        return true;
    if (simulator_.chance(faults_.lost)) return false;
    if (simulator_.chance(faults_.altered) && item.bytes() > sizeof(wire::Frame)) {
        const size_t at = sizeof(wire::Frame) + simulator_.below(item.bytes() - sizeof(wire::Frame));
        (at < item.head.size() ? item.head[at] : item.data[at - item.head.size()]) ^= std::byte{4};
    }
    if (simulator_.chance(faults_.duplicated)) {
        Item again = item;
        simulator_.after(delay + simulator_.below(late_ns),
                         [this, to, again = std::move(again)]() mutable { deliver(std::move(again), to); });
    }
    if (simulator_.chance(faults_.late)) delay += simulator_.below(late_ns);
    return true;
}

void Carrier::transmit(Item item, int to) {
    const auto found = connections_.find(item.connection);
    if (found == connections_.end()) return;
    Connection& c = found->second;
    if (c.closed) return notify_closed(item.connection, item.from, simulator_.between(20 * us, ms));
    const int side = c.side(item.from);
    uint64_t delay = simulator_.between(20 * us, 200 * us);
    const uint64_t usual = delay;
    if (!apply_faults(item, delay, to)) return;
    uint64_t due = simulator_.now() + delay;
    if (delay == usual) due = c.last_due[side] = std::max(due, c.last_due[side]); // in order
    if (const auto cut = cuts_.find({item.from, to}); cut != cuts_.end())
        due = std::max(due, cut->second); // the kernel repeats what was lost
    if (delay == usual) c.last_due[side] = due;
    c.unread[side] += item.bytes();
    simulator_.at(due, [this, to, item = std::move(item)]() mutable { deliver(std::move(item), to); });
}

void Carrier::deliver(Item item, int to) {
    const auto found = connections_.find(item.connection);
    if (found == connections_.end()) return;
    if (SimulatedNetwork* const network = find(to, found->second.cluster))
        network->arrive(std::move(item));
    else
        notify_closed(item.connection, item.from, simulator_.between(20 * us, ms));
}

void Carrier::transmit_later(int from, int to, int cluster) {
    simulator_.after(simulator_.between(us, 30 * us), [this, from, to, cluster] {
        if (SimulatedNetwork* const network = find(from, cluster)) network->transmit_next(to);
    });
}

void Carrier::consumed(const Item& item) {
    const auto found = connections_.find(item.connection);
    if (found == connections_.end()) return;
    Connection& c = found->second;
    uint64_t& unread = c.unread[c.side(item.from)];
    unread -= std::min<uint64_t>(unread, item.bytes());
    if (SimulatedNetwork* const sender = find(item.from, c.cluster))
        sender->pump(c.ends[1 - c.side(item.from)]);
}

void Carrier::notify_closed(uint64_t connection, int id, uint64_t delay) {
    simulator_.after(delay, [this, connection, id] {
        const auto found = connections_.find(connection);
        if (found == connections_.end()) return;
        const Connection& c = found->second;
        if (SimulatedNetwork* const network = find(id, c.cluster))
            network->arrive({Item::Kind::closed, connection, c.ends[1 - c.side(id)], {}, {}});
    });
}

void Carrier::close(uint64_t connection, int by) {
    const auto found = connections_.find(connection);
    if (found == connections_.end() || std::exchange(found->second.closed, true)) return;
    Connection& c = found->second;
    const int other = c.ends[1 - c.side(by)];
    // What was sent before arrives first, or is lost.
    const uint64_t last = c.last_due[c.side(by)];
    const uint64_t due = std::max(simulator_.now() + simulator_.between(20 * us, ms), last);
    notify_closed(connection, other, due - simulator_.now());
}

void Carrier::reset(int first, int other) {
    for (auto& [number, c] : connections_) {
        if (c.closed || c.ends[0] + c.ends[1] != first + other || (c.ends[0] != first && c.ends[0] != other))
            continue;
        c.closed = true;
        simulator_.print("reset of connection " + std::to_string(first) + " - " + std::to_string(other));
        notify_closed(number, first, 0);
        notify_closed(number, other, simulator_.chance(500) ? simulator_.below(5 * ms) : keepalive_ns);
        return;
    }
}

} // namespace zipmpi::simulation

// The network engines of the library, replaced. The name of the devices is the number of a cluster.
namespace zipmpi::transport {

std::unique_ptr<FrameNetwork> open_network(const NetworkConfig& settings, const FrameConfig& frames,
                                           std::string& /*why*/) {
    simulation::Carrier& carrier = simulation::Carrier::current();
    return std::make_unique<simulation::SimulatedNetwork>(
        carrier, carrier.opening(), std::stoi(settings.devices), settings, *frames.listener);
}

} // namespace zipmpi::transport
