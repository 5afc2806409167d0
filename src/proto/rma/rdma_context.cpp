// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/rdma_context.hpp"

#include "os/clock.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "proto/rma/fetch_op.hpp"

#include <sched.h>

namespace zipmpi::proto::rma {
namespace {

// Polls before a yield; an operation takes a few microseconds.
constexpr uint32_t polls_per_yield = 64;

void complete_fetch(const RdmaContext::CompletionAction& a, Err error) {
    if (error != Err::success)
        a.fetch->error = error;
    else if (!a.memory.empty())
        store(a.fetch->result, a.fetched_to, a.memory.data(), a.memory.size());
    a.fetch->complete_part();
}

} // namespace

RdmaContext::RdmaContext(std::unique_ptr<transport::RdmaDevice> device, ProgressEngine& engine)
    : device_(std::move(device))
    , engine_(engine) {
    hook_.context = this;
    hook_.poll = [](ProgressHook& w) { return static_cast<RdmaHook&>(w).context->poll(); };
}

RdmaContext::~RdmaContext() { engine_.hooks().remove(hook_); }

std::string RdmaContext::open_connection(RdmaConnection& connection) {
    std::string text;
    connection.endpoint = device_->create_endpoint(text);
    connection.state =
        connection.endpoint >= 0 ? RdmaConnection::State::requested : RdmaConnection::State::unreachable;
    return text;
}

std::string RdmaContext::accept(std::string_view text) {
    std::string own;
    const int endpoint = device_->create_endpoint(own);
    return endpoint >= 0 && device_->connect(endpoint, text) ? own : std::string();
}

void RdmaContext::connect(RdmaConnection& connection, std::string_view text) {
    if (connection.state != RdmaConnection::State::requested) return;
    const bool good = !text.empty() && device_->connect(connection.endpoint, text);
    connection.state = good ? RdmaConnection::State::connected : RdmaConnection::State::unreachable;
}

void RdmaContext::connect_to_self(RdmaConnection& connection) {
    const std::string text = open_connection(connection);
    if (connection.state == RdmaConnection::State::requested) connect(connection, accept(text));
}

RdmaContext::ArrivalWait::ArrivalWait(RdmaContext& context)
    : context_(context) {
    ++context_.arrival_waits_;
    context_.engine_.hooks().add(context_.hook_);
}

void RdmaContext::mark_busy(int endpoint) {
    const auto i = static_cast<size_t>(endpoint);
    if (i >= busy_.size()) busy_.resize(i + 1);
    if (!busy_[i]) ++busy_endpoints_;
    busy_[i] = true;
    engine_.hooks().add(hook_);
}

bool RdmaContext::is_flushed(int endpoint) {
    if (!device_->flushed(endpoint)) return false;
    finish(endpoint);
    return true;
}

void RdmaContext::finish(int endpoint) {
    const auto i = static_cast<size_t>(endpoint);
    if (i < busy_.size() && busy_[i]) {
        busy_[i] = false;
        --busy_endpoints_;
    }
    const bool has_failed = device_->failed(endpoint);
    for (auto a = completion_actions_.begin(); a != completion_actions_.end();) {
        if (a->endpoint != endpoint) {
            ++a;
            continue;
        }
        if (a->fetch != nullptr) complete_fetch(*a, has_failed ? Err::other : Err::success);
        held_bytes_ -= a->memory.size();
        a = completion_actions_.erase(a);
    }
}

int RdmaContext::poll() {
    device_->progress();
    int endpoint = -1;
    bool awaited = arrival_waits_ > 0;
    for (const CompletionAction& a : completion_actions_) {
        awaited = awaited || a.immediate;
        if (a.immediate && device_->flushed(a.endpoint)) endpoint = a.endpoint;
    }
    if (endpoint >= 0) finish(endpoint);
    if (busy_endpoints_ == 0 && arrival_waits_ == 0) engine_.hooks().remove(hook_);
    if (awaited && ++polls_ % polls_per_yield == 0) sched_yield();
    return awaited ? 1 : 0; // keeps the rank from sleeping
}

void RdmaContext::progress(uint32_t polls) {
    engine_.progress();
    const bool yields = polls % polls_per_yield == 0;
    if (!yields && !engine_.engine_lock().multithreaded()) return os::cpu_relax();
    if (yields) engine_.faults().poll();
    engine_.engine_lock().unlock_for_wait();
    yields ? os::yield_cpu() : os::cpu_relax();
    engine_.engine_lock().relock();
}

} // namespace zipmpi::proto::rma
