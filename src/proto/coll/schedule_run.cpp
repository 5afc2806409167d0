// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/coll/schedule_run.hpp"

#include "proto/count_mismatch.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "proto/progress/wait.hpp"

#include <cstring>

namespace zipmpi::proto::coll {
namespace {

// Detects messages that are too short; matching detects those that are too long.
Err result_of(const Operation& op) {
    const bool short_of = op.kind == Operation::Kind::recv && op.received != op.bytes;
    return op.error == Err::success && short_of
               ? count_mismatch(Err::not_same, op.matched_source, op.received, op.bytes)
               : op.error;
}

} // namespace

void ScheduleRun::advance_task(DeferredTask& task) { static_cast<ScheduleRun&>(task).advance(); }

void ScheduleRun::cancel() { engine_.hooks().cancel(*this); }

void ScheduleRun::start(Err error) {
    next_step_ = started_ = completed_before_ = in_flight_ = 0;
    done_ = aborted_ = false;
    error_ = error;
    if (error_ != Err::success) next_step_ = schedule_.step_count();
    advance();
}

void ScheduleRun::wait() {
    if (done_) return;
    const WaitInfo info{[](const void* subject, uint32_t i) {
                            return static_cast<const ScheduleRun*>(subject)->message_at(i);
                        },
                        this, schedule_.message_count(), schedule_.sequence()};
    wait_until(
        engine_, [this] { return done_; }, info);
}

void ScheduleRun::start_message(const Step& step) {
    ScheduledMessage& m = schedule_.message(step.message);
    m.reset();
    m.on_done = on_message;
    m.run = this;
    ++started_;
    if (m.open && m.bytes == 0) {
        m.complete = true;
        return;
    }
    ++in_flight_;
    step.kind == Step::Kind::send ? engine_.start_send(m) : engine_.start_recv(m);
}

void ScheduleRun::perform(const Step& step) {
    switch (step.kind) {
    case Step::Kind::send:
    case Step::Kind::recv:
        start_message(step);
        break;
    case Step::Kind::copy:
        std::memcpy(step.to, step.from, static_cast<size_t>(step.amount));
        break;
    case Step::Kind::combine:
        schedule_.op()(step.from, step.to, step.amount);
        break;
    case Step::Kind::call:
        if (const Err e = step.function(step.to); e != Err::success && error_ == Err::success) error_ = e;
        break;
    case Step::Kind::wait:
        completed_before_ = started_;
        break;
    }
}

void ScheduleRun::advance() {
    advancing_ = true;
    while (next_step_ < schedule_.step_count() && !aborted_) {
        const Step& step = schedule_.step(next_step_);
        if (step.kind == Step::Kind::wait && in_flight_ != 0) break;
        ++next_step_;
        perform(step);
    }
    advancing_ = false;
    if (aborted_) abandon_receives();
    if (in_flight_ == 0 && (aborted_ || next_step_ == schedule_.step_count())) finish();
}

void ScheduleRun::finish() {
    done_ = true;
    engine_.engine_lock().wake_waiters();
    if (on_end_ != nullptr) on_end_(on_end_argument_);
}

void ScheduleRun::abandon_receives() {
    for (uint32_t i = completed_before_; i < started_; ++i) {
        ScheduledMessage& m = schedule_.message(i);
        if (m.done() || m.kind != Operation::Kind::recv) continue;
        engine_.abandon_recv(m);
        --in_flight_;
    }
}

void ScheduleRun::on_message(Operation& op) {
    const auto& m = static_cast<ScheduledMessage&>(op);
    m.run->message_done(m);
}

void ScheduleRun::message_done(const ScheduledMessage& m) {
    --in_flight_;
    if (const Err e = result_of(m); e != Err::success) {
        if (error_ == Err::success) error_ = e;
        if (m.kind == Operation::Kind::send || is_fault(e)) aborted_ = true;
    }
    if ((in_flight_ == 0 || aborted_) && !advancing_) engine_.hooks().defer(*this);
}

const Operation* ScheduleRun::message_at(uint32_t i) const {
    return i < started_ ? &schedule_.message(i) : nullptr;
}

const Operation* ScheduleRun::pending_operation() const {
    for (uint32_t i = completed_before_; i < started_; ++i)
        if (!schedule_.message(i).done()) return &schedule_.message(i);
    return nullptr;
}

} // namespace zipmpi::proto::coll
