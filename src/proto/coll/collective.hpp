// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One call of a collective: its schedule of messages and the run of that schedule. A detached collective
// (nonblocking or persistent) is described completely, then started. A blocking one may also execute phases
// in shared memory (shm/), each after all steps described so far; without other steps it needs no run.
//
// Threads: under the lock of the progress engine. Must not be moved.
#pragma once

#include "proto/coll/schedule_run.hpp"

namespace zipmpi::proto::coll {

class Collective {
  public:
    // blocking: run by its caller, which may wait in shared memory
    enum class Form { blocking, detached };

    explicit Collective(Team& team, Form form = Form::blocking);

    [[nodiscard]] Schedule& schedule() { return schedule_; }
    [[nodiscard]] bool may_block() const { return form_ == Form::blocking; }
    [[nodiscard]] uint32_t sequence() const { return schedule_.sequence(); }

    // --- blocking phases
    // Runs all steps so far, so that the caller can execute a phase itself. Returns false if the description
    // has failed; then the caller must not continue.
    bool run_pending() {
        if (!schedule_.empty()) run_pending_steps();
        return schedule_.state() == Err::success;
    }
    // Records the error of a phase.
    void record_error(Err error) {
        if (phase_error_ == Err::success) phase_error_ = error;
    }
    // Runs the remaining steps and waits for completion. Returns the first error.
    Err run();

    // --- detached
    // Sets the callback at the end of a run; it may destroy this object.
    void on_end(void (*function)(void*), void* argument) { run_.on_end(function, argument); }
    void start();
    [[nodiscard]] bool done() const { return run_.done(); }
    [[nodiscard]] Err error() const { return run_.error(); }
    // A pending message, or null.
    [[nodiscard]] const Operation* pending_operation() const { return run_.pending_operation(); }

  private:
    void run_pending_steps();

    Form form_;
    Err phase_error_ = Err::success;
    Schedule schedule_;
    ScheduleRun run_;
};

} // namespace zipmpi::proto::coll
