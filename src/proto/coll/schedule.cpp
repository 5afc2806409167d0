// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/coll/schedule.hpp"

#include "proto/p2p/progress_engine.hpp"
#include "proto/progress/wait.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace zipmpi::proto::coll {
namespace {

[[gnu::cold]] Err short_message_error(const Operation& op) {
    return fail(Err::not_same,
                "call the same collective with the same count and datatype on all ranks of the communicator",
                "rank %d has sent %llu bytes in this collective, this rank expects %llu", op.matched_source,
                static_cast<unsigned long long>(op.received), static_cast<unsigned long long>(op.bytes));
}

// Detects messages that are too short; matching detects those that are too long.
Err result_of(const Operation& op) {
    const bool short_of = op.kind == Operation::Kind::recv && op.received != op.bytes;
    return op.error == Err::success && short_of ? short_message_error(op) : op.error;
}

// A failed rank or a revoked communicator: the schedule must not send results computed from missing data.
bool is_fault(Err e) { return e == Err::proc_failed || e == Err::revoked; }

} // namespace

Schedule::Schedule(Team& team, Form form)
    : Schedule(team, SubSchedule{++team.collectives}) {
    form_ = form;
    engine_.counters().add(Counter::collectives);
}

Schedule::Schedule(Team& team, SubSchedule sub)
    : engine_(*team.engine)
    , form_(Form::blocking)
    , context_(team.context)
    , sequence_(sub.sequence) {
    DeferredTask::run = [](DeferredTask& d) { static_cast<Schedule&>(d).advance(); };
}

Schedule::~Schedule() { engine_.cancel_deferred(*this); }

// Messages of a subteam carry the ranks of the whole team.
void Schedule::add(const Team& team, Operation op, Kind kind) {
    if (team.scope != Team::TeamScope::whole) {
        op.source = team.parent_ranks.world(op.source);
        op.peer = team.parent_ranks.world(op.peer);
    }
    ScheduledMessage& m = messages_.emplace_back();
    static_cast<Operation&>(m) = op;
    m.context = op.context + 1;
    m.on_done = on_message;
    m.schedule = this;
    steps_.push_back({kind, static_cast<uint32_t>(messages_.size() - 1), nullptr, nullptr, 0, nullptr});
}

void Schedule::send(const Team& team, const void* data, size_t bytes, int to) {
    add(team, make_send(team, data, bytes, to, collective_tag(sequence_, team.context != context_)),
        Kind::send);
}

void Schedule::recv(const Team& team, void* data, size_t bytes, int from) {
    add(team, make_recv(team, data, bytes, from, collective_tag(sequence_, team.context != context_)),
        Kind::recv);
}

uint32_t Schedule::open_last() {
    messages_.back().open = true;
    return static_cast<uint32_t>(messages_.size() - 1);
}

uint32_t Schedule::open_send(const Team& team, int to) {
    send(team, nullptr, 0, to);
    return open_last();
}

uint32_t Schedule::open_recv(const Team& team, int from) {
    recv(team, nullptr, 0, from);
    return open_last();
}

void Schedule::fill(uint32_t message, std::byte* data, size_t bytes) {
    messages_[message].buffer = data;
    messages_[message].bytes = bytes;
}

void Schedule::copy(void* to, const void* from, size_t bytes) {
    if (bytes != 0 && to != from)
        steps_.push_back({Kind::copy, 0, from, to, static_cast<int64_t>(bytes), nullptr});
}

void Schedule::combine(const void* in, void* inout, int64_t count) {
    steps_.push_back({Kind::combine, 0, in, inout, count, nullptr});
}

void Schedule::call(Err (*function)(void*), void* argument) {
    steps_.push_back({Kind::call, 0, nullptr, argument, 0, function});
}

void Schedule::wait() {
    if (!steps_.empty() && steps_.back().kind != Kind::wait)
        steps_.push_back({Kind::wait, 0, nullptr, nullptr, 0, nullptr});
}

std::byte* Schedule::scratch(size_t bytes) {
    constexpr size_t alignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
    if (bytes <= sizeof first_scratch_ - first_scratch_used_) {
        std::byte* address = first_scratch_ + first_scratch_used_;
        first_scratch_used_ = std::min(sizeof first_scratch_,
                                       (first_scratch_used_ + bytes + alignment - 1) / alignment * alignment);
        return address;
    }
    std::unique_ptr<std::byte[]> memory(new (std::nothrow) std::byte[bytes != 0 ? bytes : 1]);
    if (memory == nullptr) {
        fail_build(fail(Err::no_mem, "use smaller counts or free memory",
                        "cannot allocate %zu bytes of scratch memory", bytes));
        return nullptr;
    }
    scratch_.push_back(std::move(memory));
    return scratch_.back().get();
}

void Schedule::start() {
    next_step_ = started_ = completed_before_ = in_flight_ = 0;
    done_ = aborted_ = false;
    error_ = is_fault(earlier_error_) ? earlier_error_ : state_;
    if (error_ != Err::success) next_step_ = static_cast<uint32_t>(steps_.size());
    advance();
}

Err Schedule::run() {
    if (steps_.empty()) return state_ != Err::success ? state_ : earlier_error_;
    start();
    const WaitInfo note{
        [](const void* subject, uint32_t i) { return static_cast<const Schedule*>(subject)->message_at(i); },
        this, static_cast<uint32_t>(messages_.size()), sequence_};
    if (!done_)
        wait_until(
            engine_, [this] { return done_; }, note);
    return earlier_error_ != Err::success ? earlier_error_ : error_;
}

void Schedule::run_pending_steps() {
    if (state_ != Err::success) return;
    record_error(run());
    steps_.clear();
    messages_.clear();
}

void Schedule::start_message(const Step& step) {
    ScheduledMessage& m = messages_[step.message];
    m.reset();
    ++started_;
    if (m.open && m.bytes == 0) {
        m.complete = true;
        return;
    }
    ++in_flight_;
    step.kind == Kind::send ? engine_.start_send(m) : engine_.start_recv(m);
}

void Schedule::perform(const Step& step) {
    switch (step.kind) {
    case Kind::send:
    case Kind::recv:
        start_message(step);
        break;
    case Kind::copy:
        std::memcpy(step.to, step.from, static_cast<size_t>(step.amount));
        break;
    case Kind::combine:
        op_(step.from, step.to, step.amount);
        break;
    case Kind::call:
        if (const Err e = step.function(step.to); e != Err::success && error_ == Err::success) error_ = e;
        break;
    case Kind::wait:
        completed_before_ = started_;
        break;
    }
}

void Schedule::advance() {
    advancing_ = true;
    while (next_step_ < steps_.size() && !aborted_) {
        const Step& step = steps_[next_step_];
        if (step.kind == Kind::wait && in_flight_ != 0) break;
        ++next_step_;
        perform(step);
    }
    advancing_ = false;
    if (aborted_) abandon_receives();
    if (in_flight_ == 0 && (aborted_ || next_step_ == steps_.size())) finish();
}

void Schedule::finish() {
    done_ = true;
    engine_.wake_waiters();
    if (on_end_ != nullptr) on_end_(on_end_argument_);
}

void Schedule::abandon_receives() {
    for (uint32_t i = completed_before_; i < started_; ++i) {
        ScheduledMessage& m = messages_[i];
        if (m.done() || m.kind != Operation::Kind::recv) continue;
        engine_.abandon_recv(m);
        --in_flight_;
    }
}

void Schedule::on_message(Operation& op) {
    auto& m = static_cast<ScheduledMessage&>(op);
    m.schedule->message_done(m);
}

void Schedule::message_done(ScheduledMessage& m) {
    --in_flight_;
    if (const Err e = result_of(m); e != Err::success) {
        if (error_ == Err::success) error_ = e;
        if (m.kind == Operation::Kind::send || is_fault(e)) aborted_ = true;
    }
    if ((in_flight_ == 0 || aborted_) && !advancing_) engine_.defer(*this);
}

const Operation* Schedule::message_at(uint32_t i) const { return i < started_ ? &messages_[i] : nullptr; }

const Operation* Schedule::pending_operation() const {
    for (uint32_t i = completed_before_; i < started_; ++i)
        if (!messages_[i].done()) return &messages_[i];
    return nullptr;
}

} // namespace zipmpi::proto::coll
