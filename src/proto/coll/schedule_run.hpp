// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Execution of a schedule: starts its messages, advances when they complete, and records the first error. A
// waiting run needs no polling: completed messages advance it.
//
// Threads: under the lock of the progress engine. The schedule must not change while it runs, except for
// Schedule::fill().
#pragma once

#include "proto/coll/schedule.hpp"
#include "proto/progress/progress_task.hpp"

namespace zipmpi::proto::coll {

// A failed rank or a revoked communicator: results computed from missing data must not be sent.
inline bool is_fault(Err e) { return e == Err::proc_failed || e == Err::revoked; }

class ScheduleRun : private DeferredTask {
  public:
    ScheduleRun(ProgressEngine& engine, Schedule& schedule)
        : engine_(engine)
        , schedule_(schedule) {
        DeferredTask::run = advance_task;
    }
    ~ScheduleRun() {
        if (DeferredTask::queued) cancel();
    }
    ScheduleRun(const ScheduleRun&) = delete;
    ScheduleRun& operator=(const ScheduleRun&) = delete;

    // Sets the callback at the end of a run; it may destroy this object.
    void on_end(void (*function)(void*), void* argument) {
        on_end_ = function;
        on_end_argument_ = argument;
    }
    // Starts at the first step. A run that begins with an error executes no step.
    void start(Err error);
    void wait();
    [[nodiscard]] bool done() const { return done_; }
    [[nodiscard]] Err error() const { return error_; }
    // A pending message, or null.
    [[nodiscard]] const Operation* pending_operation() const;

  private:
    void perform(const Step& step);
    void start_message(const Step& step);
    void advance();
    void finish();
    void message_done(const ScheduledMessage& m);
    void abandon_receives();
    [[nodiscard]] const Operation* message_at(uint32_t i) const;
    static void on_message(Operation& op);
    static void advance_task(DeferredTask& task);
    void cancel();

    ProgressEngine& engine_;
    Schedule& schedule_;
    uint32_t next_step_ = 0;
    uint32_t started_ = 0;          // messages started in this run
    uint32_t completed_before_ = 0; // messages before this index are complete
    uint32_t in_flight_ = 0;
    bool advancing_ = false;
    bool done_ = false;
    bool aborted_ = false; // a send failed or a peer failed: pending receives are abandoned
    Err error_ = Err::success;
    void (*on_end_)(void*) = nullptr;
    void* on_end_argument_ = nullptr;
};

} // namespace zipmpi::proto::coll
