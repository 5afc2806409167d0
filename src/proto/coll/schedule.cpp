// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/coll/schedule.hpp"

#include "proto/p2p/lane.hpp"
#include "proto/progress/wait.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace zipmpi::proto::coll {
namespace {

[[gnu::cold]] Err too_short(const Operation& op) {
    return fail(Err::not_same,
                "call the same collective with the same count and datatype on all ranks of the communicator",
                "rank %d has sent %llu bytes in this collective, this rank expects %llu", op.matched_source,
                static_cast<unsigned long long>(op.received), static_cast<unsigned long long>(op.bytes));
}

// A message that is too long is found on the way; one that is too short here.
Err result_of(const Operation& op) {
    const bool short_of = op.kind == Operation::Kind::recv && op.received != op.bytes;
    return op.error == Err::success && short_of ? too_short(op) : op.error;
}

// Who takes part is not complete any more: nothing is sent on that would be made of what did not come.
bool is_fault(Err e) { return e == Err::proc_failed || e == Err::revoked; }

} // namespace

Schedule::Schedule(Team& team, Form form)
    : Schedule(team, Part{++team.collectives}) {
    form_ = form;
    lane_.counters().add(Counter::collectives);
}

Schedule::Schedule(Team& team, Part part)
    : lane_(*team.lane)
    , form_(Form::blocking)
    , context_(team.context)
    , sequence_(part.sequence) {
    Deferred::run = [](Deferred& d) { static_cast<Schedule&>(d).advance(); };
}

Schedule::~Schedule() { lane_.forget(*this); }

// The messages of a part of a team are those of the whole.
void Schedule::add(const Team& team, Operation op, Kind kind) {
    if (team.part != Team::Part::whole) {
        op.source = team.in_whole.world(op.source);
        op.peer = team.in_whole.world(op.peer);
    }
    Message& m = messages_.emplace_back();
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
        std::byte* place = first_scratch_ + first_scratch_used_;
        first_scratch_used_ = std::min(sizeof first_scratch_,
                                       (first_scratch_used_ + bytes + alignment - 1) / alignment * alignment);
        return place;
    }
    std::unique_ptr<std::byte[]> memory(new (std::nothrow) std::byte[bytes != 0 ? bytes : 1]);
    if (memory == nullptr) {
        refuse(fail(Err::no_mem, "use smaller counts or free memory",
                    "no memory for %zu bytes of scratch space", bytes));
        return nullptr;
    }
    scratch_.push_back(std::move(memory));
    return scratch_.back().get();
}

void Schedule::start() {
    next_step_ = started_ = settled_ = under_way_ = 0;
    done_ = broken_ = false;
    error_ = is_fault(earlier_) ? earlier_ : state_;
    if (error_ != Err::success) next_step_ = static_cast<uint32_t>(steps_.size());
    advance();
}

Err Schedule::run() {
    if (steps_.empty()) return state_ != Err::success ? state_ : earlier_;
    start();
    const WaitNote note{
        [](const void* subject, uint32_t i) { return static_cast<const Schedule*>(subject)->message_at(i); },
        this, static_cast<uint32_t>(messages_.size()), sequence_};
    if (!done_)
        wait_until(
            lane_, [this] { return done_; }, note);
    return earlier_ != Err::success ? earlier_ : error_;
}

void Schedule::settle_steps() {
    if (state_ != Err::success) return;
    record(run());
    steps_.clear();
    messages_.clear();
}

void Schedule::start_message(const Step& step) {
    Message& m = messages_[step.message];
    m.reset();
    ++started_;
    if (m.open && m.bytes == 0) {
        m.complete = true;
        return;
    }
    ++under_way_;
    step.kind == Kind::send ? lane_.start_send(m) : lane_.start_recv(m);
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
        combine_(step.from, step.to, step.amount);
        break;
    case Kind::call:
        if (const Err e = step.function(step.to); e != Err::success && error_ == Err::success) error_ = e;
        break;
    case Kind::wait:
        settled_ = started_;
        break;
    }
}

void Schedule::advance() {
    advancing_ = true;
    while (next_step_ < steps_.size() && !broken_) {
        const Step& step = steps_[next_step_];
        if (step.kind == Kind::wait && under_way_ != 0) break;
        ++next_step_;
        perform(step);
    }
    advancing_ = false;
    if (broken_) give_up();
    if (under_way_ == 0 && (broken_ || next_step_ == steps_.size())) end();
}

void Schedule::end() {
    done_ = true;
    lane_.wake_threads();
    if (on_end_ != nullptr) on_end_(on_end_argument_);
}

void Schedule::give_up() {
    for (uint32_t i = settled_; i < started_; ++i) {
        Message& m = messages_[i];
        if (m.done() || m.kind != Operation::Kind::recv) continue;
        lane_.give_up_recv(m);
        --under_way_;
    }
}

void Schedule::on_message(Operation& op) {
    auto& m = static_cast<Message&>(op);
    m.schedule->message_done(m);
}

void Schedule::message_done(Message& m) {
    --under_way_;
    if (const Err e = result_of(m); e != Err::success) {
        if (error_ == Err::success) error_ = e;
        if (m.kind == Operation::Kind::send || is_fault(e)) broken_ = true;
    }
    if ((under_way_ == 0 || broken_) && !advancing_) lane_.defer(*this);
}

const Operation* Schedule::message_at(uint32_t i) const { return i < started_ ? &messages_[i] : nullptr; }

const Operation* Schedule::shown() const {
    for (uint32_t i = settled_; i < started_; ++i)
        if (!messages_[i].done()) return &messages_[i];
    return nullptr;
}

} // namespace zipmpi::proto::coll
