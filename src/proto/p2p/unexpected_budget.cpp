// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/unexpected_budget.hpp"

#include "base/param.hpp"
#include "os/host.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

namespace zipmpi::proto {
namespace {

constexpr int64_t automatic = -1;

Param<int64_t> total_limit{
    "p2p.unexpected_limit",
    automatic,
    {automatic, 1024 * GiB},
    Unit::bytes,
    Level::tuner,
    Scope::local,
    "memory of a rank for messages without a receive; beyond it, sends to the rank "
    "complete when they are received; -1: its share of a quarter of the host's memory"};
Param<int64_t> peer_limit{"p2p.unexpected_peer_limit",
                          automatic,
                          {automatic, 1024 * GiB},
                          Unit::bytes,
                          Level::tuner,
                          Scope::local,
                          "as p2p.unexpected_limit, for the messages of one peer; -1: half of that limit"};

// Programs may rely on some buffering, although MPI does not promise it.
constexpr uint64_t min_automatic = 64 * MiB;

// Memory that a held peer may use until the receiver sleeps, or sleeps again.
constexpr uint64_t min_step = 64 * KiB;
// The time in which a peer fills its ring.
constexpr long pause_ns = 200'000;

// More would delay a request to hold by more than the buffers of a connection do.
constexpr uint64_t max_bytes_per_poll = 4 * MiB;

} // namespace

UnexpectedBudget::Limits UnexpectedBudget::limits_of_rank(uint32_t local_ranks) {
    const uint64_t share = os::physical_memory() / 4 / std::max(local_ranks, 1U);
    const uint64_t total =
        total_limit == automatic ? std::max(share, min_automatic) : static_cast<uint64_t>(total_limit.get());
    const uint64_t peer = peer_limit == automatic ? total / 2 : static_cast<uint64_t>(peer_limit.get());
    return {std::min(peer, total), total};
}

uint64_t UnexpectedBudget::bytes_per_poll() const { return std::min(limits_.peer / 4, max_bytes_per_poll); }

uint64_t UnexpectedBudget::step() const { return std::max(limits_.peer / 16, min_step); }

void UnexpectedBudget::request(transport::Peer peer, const wire::HoldEager& what) {
    control_.send(peer, wire::MessageKind::hold_eager, &what, sizeof what);
}

// Messages of this rank to itself are counted and not limited.
void UnexpectedBudget::hold(transport::Peer peer) {
    if (peer == self_ || std::exchange(shares_[peer].held, true)) return;
    ++held_peers_;
    request(peer, {1});
}

void UnexpectedBudget::resume(transport::Peer peer) {
    shares_[peer].tolerated = 0;
    if (!std::exchange(shares_[peer].held, false)) return;
    --held_peers_;
    request(peer, {0});
}

void UnexpectedBudget::on_excess(transport::Peer peer) {
    PeerShare& share = shares_[peer];
    const bool continues = share.held; // although it was asked to hold
    if (share.bytes > limits_.peer) share.tolerated = share.bytes - limits_.peer + step();
    if (total_ > limits_.total) tolerated_ = total_ - limits_.total + step();
    // Requests may make the network deliver messages, which are stored, too.
    hold(peer);
    if (total_ > limits_.total && !all_held_) hold_all();
    if (!continues) return;
    const timespec pause{0, pause_ns};
    nanosleep(&pause, nullptr);
}

void UnexpectedBudget::on_released(transport::Peer peer) {
    const auto may_resume = [this](transport::Peer p) { return shares_[p].bytes <= limits_.peer / 2; };
    if (!all_held_) {
        if (may_resume(peer)) resume(peer);
        return;
    }
    if (total_ > limits_.total / 2) return;
    all_held_ = false;
    tolerated_ = 0;
    for (transport::Peer p = 0; p < shares_.size(); ++p)
        if (may_resume(p)) resume(p);
}

void UnexpectedBudget::hold_all() {
    all_held_ = true;
    for (transport::Peer peer = 0; peer < shares_.size(); ++peer)
        if (shares_[peer].bytes != 0) hold(peer);
}

} // namespace zipmpi::proto
