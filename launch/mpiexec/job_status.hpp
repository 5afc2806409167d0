// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How a job ends, as seen by mpiexec: failures, signals of the user, lost output. Decides the exit status.
#pragma once

#include "launch/mpiexec/job_output.hpp"
#include "launch/protocol/messages.hpp"
#include "launch/tree/subtree.hpp"

#include <optional>

namespace zipmpi::launch {

class JobStatus {
  public:
    JobStatus(const StartRequest& request, Subtree& subtree, JobOutput& output)
        : request_(request)
        , subtree_(subtree)
        , output_(output) {}

    void update() { done_ = subtree_.all_finished(); }
    [[nodiscard]] bool is_done() const { return done_; } // all daemons have finished
    [[nodiscard]] bool is_failed() const { return failed_; }
    [[nodiscard]] bool is_interrupted() const { return interrupted_by_ != 0; }
    [[nodiscard]] int exit_status() const { // of mpiexec
        return interrupted_by_ != 0 && !failed_ ? 128 + interrupted_by_ : exit_code_;
    }

    void mark_interrupted(int signal) { interrupted_by_ = signal; }
    void on_failure(std::string_view payload); // payload of a frame
    void on_daemon_lost(const Diagnostic& why);
    void fail(int exit_code, const Diagnostic& why);
    void set_first_exit_code(int exit_code); // of a rank that failed while the job continues
    // A closed pipe ends the job as it would end a program. Output lost for another reason is an error that
    // must be reported: the job is ended, or, if only stderr is lost, the exit status shows it.
    void check_output();

    void on_time(uint64_t now);
    [[nodiscard]] uint64_t next_time() const { return failure_at_; }

  private:
    void commit_failure();

    const StartRequest& request_;
    Subtree& subtree_;
    JobOutput& output_;
    bool done_ = false, failed_ = false;
    bool output_failed_ = false;     // and reported
    std::optional<Failure> failure_; // the first one, until its cause is confirmed
    uint64_t failure_at_ = 0;
    int exit_code_ = 0;
    int interrupted_by_ = 0;
};

} // namespace zipmpi::launch
