// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/job_status.hpp"

#include "os/clock.hpp"
#include "os/host.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>

namespace zipmpi::launch {
namespace {

constexpr uint64_t cause_delay = 100'000'000; // ns; wait for a more likely cause of a failure
constexpr int exit_output_error = 74;         // as EX_IOERR of sysexits.h

} // namespace

// On several hosts a rank may exit because another was killed, and its message may arrive first.
void JobStatus::on_failure(std::string_view payload) {
    Failure failure;
    if (!decode(payload, failure) || (failed_ && !failure_)) return;
    if (failure_ && !failure.by_signal) return;
    failed_ = true;
    const bool sure = failure.by_signal || request_.tree.hosts.size() < 2;
    failure_ = std::move(failure);
    if (sure)
        commit_failure();
    else
        failure_at_ = os::now_ns() + cause_delay;
}

void JobStatus::commit_failure() {
    failure_at_ = 0;
    exit_code_ = static_cast<int>(failure_->exit_code);
    output_.write_stderr(failure_->text);
    failure_.reset();
    if (request_.tree.hosts.size() > 1)
        subtree_.send_all(ControlFrameType::end_job); // the other hosts have not been notified yet
}

// It is a more likely cause than a failure that has not been confirmed.
void JobStatus::on_daemon_lost(const Diagnostic& why) {
    subtree_.send_all(ControlFrameType::end_job);
    if (is_interrupted() || (failed_ && !failure_)) return;
    failure_.reset();
    failure_at_ = 0;
    fail(1, with_outcome(why, "the job was terminated"));
}

void JobStatus::fail(int exit_code, const Diagnostic& why) {
    failed_ = true;
    exit_code_ = exit_code;
    output_.write_diagnostic(why);
}

void JobStatus::set_first_exit_code(int exit_code) {
    if (exit_code_ == 0) exit_code_ = exit_code;
}

void JobStatus::check_output() {
    const int error = output_.error(0);
    if (error == EPIPE) {
        if (done_ || is_interrupted()) return;
        mark_interrupted(SIGPIPE);
        subtree_.send_all(ControlFrameType::end_job);
        return;
    }
    if (output_.error(1) != 0 && output_.error(1) != EPIPE) set_first_exit_code(exit_output_error);
    if (error == 0 || output_failed_) return;
    output_failed_ = true;
    output_.write_diagnostic({"the output of the job could not be written; the job was terminated",
                              "standard output of mpiexec, host " + os::host_name(), std::strerror(error),
                              error == ENOSPC || error == EDQUOT
                                  ? "free space there, or redirect the output"
                                  : "check the destination of the standard output of mpiexec"});
    if (!failed_ && !is_interrupted()) {
        failed_ = true;
        exit_code_ = exit_output_error;
    }
    if (!done_) subtree_.send_all(ControlFrameType::end_job);
}

void JobStatus::on_time(uint64_t now) {
    const bool is_due = failure_at_ != 0 && now >= failure_at_;
    if (is_due || (failure_ && subtree_.all_finished())) commit_failure();
}

} // namespace zipmpi::launch
