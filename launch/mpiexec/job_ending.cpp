// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/job_ending.hpp"

#include "launch/protocol/deadline.hpp"
#include "launch/report/exit_report.hpp"

#include "os/clock.hpp"
#include "os/host.hpp"

#include <csignal>
#include <cstdio>

namespace zipmpi::launch {
namespace {

constexpr uint64_t patience = 1'000'000'000; // ns of grace period between a signal of the user and SIGKILL
constexpr int exit_timeout = 124;            // as timeout(1)

} // namespace

void JobEnding::begin() {
    if (timeout_ > 0) timeout_at_ = os::now_ns() + static_cast<uint64_t>(timeout_ * 1e9);
}

void JobEnding::interrupt(int signal) {
    if (status_.is_interrupted()) { // second signal: no grace period
        subtree_.send_all(ControlFrameType::kill_job);
        drop_at_ = os::now_ns() + patience;
        return;
    }
    status_.mark_interrupted(signal);
    PayloadWriter w;
    subtree_.send_all(ControlFrameType::signal, w.u32(static_cast<uint32_t>(signal)).take());
    kill_at_ = os::now_ns() + patience;
    if (signal == SIGINT) return; // sent by the user at the terminal
    output_.write_diagnostic(
        {"the job was terminated by " + signal_name(signal), "mpiexec, host " + os::host_name(),
         "a process sent this signal to mpiexec, for example the batch system at the job's time limit",
         "check the job's limits, or which process sent the signal"});
}

void JobEnding::on_time(uint64_t now) {
    if (take_due(kill_at_, now)) {
        subtree_.send_all(ControlFrameType::kill_job);
        drop_at_ = now + patience;
    }
    if (take_due(drop_at_, now)) { // the output is not read: discard it
        output_.drop();
        drop_at_ = status_.is_done() ? 0 : now + patience;
    }
}

// The ranks are ended when their stacks have been read.
void JobEnding::check_time_limit(uint64_t now) {
    if (take_due(timeout_at_, now) && !status_.is_done()) {
        char seconds[32];
        std::snprintf(seconds, sizeof seconds, "%g s", timeout_);
        status_.fail(exit_timeout, {std::string("the job was terminated after ") + seconds,
                                    "mpiexec, host " + os::host_name(),
                                    "it was still running at the limit set by --timeout or MPIEXEC_TIMEOUT",
                                    "raise the limit; to find what the ranks wait for, use --report-hang"});
        stacks_.begin();
        ends_after_stacks_ = true;
    }
    if (!ends_after_stacks_ || stacks_.is_pending()) return;
    ends_after_stacks_ = false;
    subtree_.send_all(ControlFrameType::end_job);
    drop_at_ = now + 2 * patience;
}

uint64_t JobEnding::next_time() const { return earliest({timeout_at_, kill_at_, drop_at_}); }

} // namespace zipmpi::launch
