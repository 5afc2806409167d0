// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/rdma_connections.hpp"

#include "proto/rma/am_messenger.hpp"
#include "proto/rma/window_waiter.hpp"

#include <algorithm>

namespace zipmpi::proto::rma {

using State = RdmaContext::RdmaConnection::State;

RdmaConnections::RdmaConnections(const Team& team, RdmaContext& context, AmMessenger& messenger,
                                 WindowWaiter& waiter, DeferredError& failure)
    : team_(team)
    , context_(context)
    , messenger_(messenger)
    , waiter_(waiter)
    , failure_(failure)
    , keys_(context.device(), static_cast<size_t>(team.size))
    , used_(static_cast<size_t>(team.size))
    , accesses_(static_cast<size_t>(team.size)) {}

int RdmaConnections::endpoint(int rank) {
    RdmaContext::RdmaConnection& connection = connection_to(rank);
    if (connection.state == State::none && rank == team_.rank) {
        context_.connect_to_self(connection);
    } else if (connection.state == State::none) {
        const std::string text = context_.open_connection(connection);
        if (connection.state == State::requested) messenger_.request_connection(rank, text);
    }
    if (connection.state == State::requested)
        waiter_.await([&connection] { return connection.state != State::requested; }, rank);
    if (connection.state != State::connected || !keys_.import(rank)) return -1;
    if (!std::exchange(used_[static_cast<size_t>(rank)], true)) used_ranks_.push_back(rank);
    return connection.endpoint;
}

Err RdmaConnections::unreachable_error(int rank) const {
    if (const Err e = waiter_.failure_of(rank); e != Err::success) return e;
    return fail(Err::other, "set the parameter rma.rdma to no, or check the network between the hosts",
                "no RDMA connection to rank %d", rank);
}

Err RdmaConnections::flush_error(int rank) const {
    if (const Err e = waiter_.failure_of(rank); e != Err::success) return e;
    return fail(Err::other, "check the network between the hosts, or set the parameter rma.rdma to no",
                "RDMA operations to rank %d failed", rank);
}

void RdmaConnections::flush(int rank) {
    context_.wait_until([this, rank] { return is_flushed(rank); });
}

void RdmaConnections::begin_flush(int rank) {
    if (!is_flushed(rank)) context_.on_flushed(connection_to(rank).endpoint).immediate = true;
}

bool RdmaConnections::is_flushed(int rank) {
    const RdmaContext::RdmaConnection& connection = connection_to(rank);
    if (connection.state != State::connected) return true;
    if (!context_.is_flushed(connection.endpoint)) return false;
    if (context_.failed(connection.endpoint) && !failure_.is_set()) failure_.set(flush_error(rank));
    return true;
}

void RdmaConnections::flush_ranks(std::vector<int> ranks) {
    // Each poll visits all: a device begins a flush when it is asked for, after it has issued the operations.
    context_.wait_until([this, &ranks] {
        std::erase_if(ranks, [this](int rank) { return is_flushed(rank); });
        return ranks.empty();
    });
}

bool RdmaConnections::are_all_flushed() {
    return std::ranges::all_of(used_ranks_, [this](int rank) { return is_flushed(rank); });
}

void RdmaConnections::mark_access(int rank, int endpoint, Access access) {
    context_.mark_busy(endpoint);
    Access& before = accesses_[static_cast<size_t>(rank)];
    if (before == Access::none) accessed_.push_back(rank);
    before = std::max(before, access);
}

std::vector<std::pair<int, RdmaConnections::Access>> RdmaConnections::take_accesses() {
    std::vector<std::pair<int, Access>> taken;
    for (const int rank : accessed_)
        taken.emplace_back(rank, std::exchange(accesses_[static_cast<size_t>(rank)], Access::none));
    accessed_.clear();
    return taken;
}

void RdmaConnections::on_answer(int from, std::string_view text) {
    if (from < 0 || from >= team_.size) return;
    context_.connect(connection_to(from), text);
    team_.engine->engine_lock().wake_waiters();
}

} // namespace zipmpi::proto::rma
