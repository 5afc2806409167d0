// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge_job.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::simulation {
namespace {

using transport::OpStatus;

constexpr std::array<uint8_t, wire::key_bytes> key{1, 2, 3};
constexpr std::byte reused{0xee}; // the application overwrites its buffer

void fill(std::span<std::byte> bytes, int from, int to, uint64_t number) {
    const uint64_t first =
        number * 1000003 + static_cast<uint64_t>(from) * 8191 + static_cast<uint64_t>(to) * 127;
    for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
        const uint64_t word = (first + at) * 0x9e3779b97f4a7c15;
        std::memcpy(bytes.data() + at, &word, std::min(sizeof word, bytes.size() - at));
    }
}

std::string text(int from, uint64_t number) {
    return "message " + std::to_string(number) + " of rank " + std::to_string(from);
}

} // namespace

BridgeRank::BridgeRank(BridgeJob& job, int rank)
    : Process(job.simulator, "rank " + std::to_string(rank))
    , job_(job)
    , rank_(rank) {}

BridgeRank::~BridgeRank() { kill(); }

void BridgeRank::open() {
    const std::string cluster = std::to_string(job_.locator.clusters_of(rank_).front());
    transport::NetworkConfig settings{rank_, {key, key, job_.ranks()}, cluster.c_str()};
    settings.listener = this;
    settings.resolver = this;
    std::string why;
    job_.carrier.set_opening(*this);
    network_ = bridge::MultiClusterNetwork::open(settings, job_.locator, {"simulated", key}, why);
    if (network_ == nullptr) return simulator().fail("no network: " + why);
    network_->connect_gateways();
    start();
}

void BridgeRank::kill() {
    if (network_ == nullptr) return;
    end();
    job_.carrier.abandon(*this);
    network_.reset();
}

void BridgeRank::add_send(int to, uint64_t bytes, uint64_t when) {
    UserMessage& m = *sends_.emplace_back(std::make_unique<UserMessage>());
    m.peer = to;
    m.number = numbered_[to]++;
    m.due = when;
    m.bytes.resize(bytes);
    fill(m.bytes, rank_, to, m.number);
    unsent_.push_back(&m);
    ++open_sends_;
}

bool BridgeRank::is_failed(int rank) const { return job_.may_fail(rank_, rank); }

void BridgeRank::on_failed(int rank) {
    failed_.push_back(rank);
    wake();
}

bool BridgeRank::has_finished() const {
    if (open_sends_ != 0 || open_receives_ != 0) return false;
    return std::ranges::all_of(expected_, [this](const auto& peer) {
        const auto arrived = arrived_.find(peer.first);
        return is_failed(peer.first) || (arrived != arrived_.end() && arrived->second == peer.second);
    });
}

std::string BridgeRank::state() const {
    std::string all = name() + ": " + std::to_string(open_sends_) + " sends and " +
                      std::to_string(open_receives_) + " receives are open, received";
    for (const auto& [peer, n] : expected_) {
        const auto arrived = arrived_.find(peer);
        all += " " + std::to_string(arrived != arrived_.end() ? arrived->second : 0) + " of " +
               std::to_string(n) + " from rank " + std::to_string(peer);
    }
    return all + "; ";
}

uint64_t BridgeRank::poll() {
    for (const int rank : std::exchange(failed_, {})) network_->fail_peer(rank);
    const int happened = network_->progress() + post_due();
    if (ending_) {
        if (!std::exchange(shutting_down_, true)) network_->set_shutting_down(true);
        if (network_->idle()) {
            simulator().print(name() + " ends");
            end();
            network_.reset();
            return never;
        }
    }
    if (happened != 0) return simulator().now() + simulator().between(us, 10 * us);
    virtual_clock::clear_timer();
    // Arming sends acknowledgments, which may be the last ones, as in proto/progress/wait.cpp.
    if (!network_->arm() || (ending_ && network_->idle()))
        return simulator().now() + simulator().between(us, 10 * us);
    static_cast<void>(virtual_clock::read_timer(timer_));
    return std::min(timer_, next_due());
}

uint64_t BridgeRank::next_due() const {
    uint64_t due =
        unsent_.empty() || unsent_.front()->due <= simulator().now() ? never : unsent_.front()->due;
    for (const auto& r : receives_)
        if (r->announced != nullptr) due = std::min(due, r->due);
    return due;
}

int BridgeRank::post_due() {
    int posted = 0;
    while (!unsent_.empty() && unsent_.front()->due <= simulator().now() && post(*unsent_.front())) {
        unsent_.pop_front();
        ++posted;
    }
    for (size_t i = 0; i < receives_.size(); ++i) {
        UserMessage& r = *receives_[i];
        if (r.announced == nullptr || r.due > simulator().now()) continue;
        network_->fetch(*std::exchange(r.announced, nullptr), {r.bytes.data(), r.bytes.size(), &r});
        ++posted;
    }
    return posted;
}

// Returns false if the message must be sent later.
bool BridgeRank::post(UserMessage& m) {
    const int peer = network_->connect_to(m.peer);
    if (peer < 0) {
        complete_send(m, OpStatus::failed);
        return true;
    }
    const auto to = static_cast<Peer>(peer);
    wire::Envelope envelope{wire::MessageKind::eager, 0, 8, 0, 3, rank_, static_cast<int>(m.number), 0};
    const transport::BufferRef data{m.bytes.data(), m.bytes.size(), &m};
    const auto* payload = reinterpret_cast<const std::byte*>(&m.number);
    PostStatus posted = PostStatus::failed;
    if (m.bytes.size() > network_->max_eager(to)) {
        envelope.kind = wire::MessageKind::rts;
        posted = network_->send_rendezvous(to, envelope, payload, data);
    } else {
        posted = m.number % 2 == 0 ? network_->send(to, envelope, payload, data)
                                   : network_->send_batched(to, envelope, payload, data);
    }
    if (posted == PostStatus::would_block) return false;
    if (posted != PostStatus::in_flight)
        complete_send(m, posted == PostStatus::done ? OpStatus::done : OpStatus::failed);
    return true;
}

void BridgeRank::complete_send(UserMessage& m, OpStatus outcome) {
    complete(m, outcome);
    --open_sends_;
    std::ranges::fill(m.bytes, reused);
}

void BridgeRank::complete(UserMessage& m, OpStatus outcome) {
    if (std::exchange(m.done, true))
        return simulator().fail("an operation of " + name() + " completed twice");
    if (outcome != OpStatus::done && !is_failed(m.peer))
        simulator().fail("an operation of " + name() + " with rank " + std::to_string(m.peer) + " failed");
}

void BridgeRank::send_finished(transport::NetworkOperation* operation, OpStatus outcome) {
    complete_send(*static_cast<UserMessage*>(operation), outcome);
}

uint64_t BridgeRank::take_number(const transport::Arrival& a) {
    uint64_t number = 0;
    std::memcpy(&number, a.payload, sizeof number);
    uint64_t& arrived = arrived_[a.envelope.source];
    if (a.envelope.inline_bytes != sizeof number || network_->rank_of(a.from) != a.envelope.source)
        simulator().fail("an envelope is wrong");
    if (number < arrived) simulator().fail(text(a.envelope.source, number) + " arrived twice");
    if (number > arrived)
        simulator().fail(text(a.envelope.source, number) + " arrived instead of " + std::to_string(arrived));
    ++arrived;
    return number;
}

void BridgeRank::check_bytes(int from, uint64_t number, std::span<const std::byte> bytes) {
    std::vector<std::byte> wanted(bytes.size());
    fill(wanted, from, rank_, number);
    if (!std::ranges::equal(bytes, wanted)) simulator().fail(text(from, number) + " has wrong bytes");
}

void BridgeRank::message_arrived(const transport::Arrival& a) {
    const uint64_t number = take_number(a);
    check_bytes(a.envelope.source, number, {a.bulk, a.bulk_bytes});
}

void BridgeRank::rts_arrived(const transport::Arrival& a, transport::IncomingBulk& bytes, uint64_t length) {
    UserMessage& r = *receives_.emplace_back(std::make_unique<UserMessage>());
    r.peer = a.envelope.source;
    r.number = take_number(a);
    r.bytes.resize(length);
    r.announced = &bytes;
    r.due = simulator().now() +
            (simulator().chance(500) ? 0 : simulator().below(simulator().chance(300) ? 2 * second : 50 * ms));
    ++open_receives_;
}

void BridgeRank::fetch_finished(transport::NetworkOperation* operation, OpStatus outcome) {
    UserMessage& r = *static_cast<UserMessage*>(operation);
    complete(r, outcome);
    if (outcome == OpStatus::done) check_bytes(r.peer, r.number, r.bytes);
    --open_receives_;
}

void BridgeRank::peer_failed(Peer peer, const char* why) {
    if (!is_failed(network_->rank_of(peer)) &&
        !ending_) // peers may have ended, and their last frames be lost
        simulator().fail(name() + " lost rank " + std::to_string(network_->rank_of(peer)) + ": " + why);
}

} // namespace zipmpi::simulation
