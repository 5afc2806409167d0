// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Termination of a job by an error or MPI_Abort: one cause, one message, whichever rank prints it.
#include "base/diagnostic.hpp"
#include "boot/detect.hpp"
#include "core/api/process.hpp"
#include "core/flush_output.hpp"
#include "core/runtime_state.hpp"
#include "os/host.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "proto/progress/progress_thread.hpp"
#include "proto/rma/rdma_context.hpp"

#include <cstring>
#include <unistd.h>

namespace zipmpi::core {
namespace {

// The runtime. Before MPI_Init, a minimal one with the node segment that mpiexec provides, so that ranks can
// agree on which one prints.
Runtime* find_runtime() {
    if (runtime() != nullptr) return runtime();
    boot::Detection found;
    Diagnostic ignored;
    if (!boot::detect(boot::Environment(environ), found, ignored)) return nullptr;
    if (found.protocol != boot::Protocol::mpiexec) return nullptr;
    auto* bootstrap = new Runtime; // lives until the process exits, which follows immediately
    const bool joined = boot::start(environ, bootstrap->job, ignored) &&
                        boot::join_segment(bootstrap->job, bootstrap->segment, ignored);
    return joined ? bootstrap : nullptr;
}

std::string location_text(const Runtime* e, const Comm* comm) {
    std::string s;
    if (e != nullptr) s = "rank " + std::to_string(e->job.rank) + " of " + std::to_string(e->job.size) + ", ";
    s += "host " + os::host_name() + ", pid " + std::to_string(getpid());
    return comm != nullptr ? s + ", on " + name_of(*comm) : s;
}

// Ranks that fail after the first one print nothing and wait until the launcher ends them: if they aborted
// themselves, the first could be killed before it has printed the cause.
void stop_unless_first_failure(Runtime* e) {
    if (e == nullptr || !e->segment) return;
    auto& header = const_cast<wire::SegmentHeader&>(e->segment.header());
    if (header.fatal_errors.fetch_add(1, std::memory_order_relaxed) == 0) return;
    constexpr unsigned launcher_kill_seconds = 2;
    sleep(launcher_kill_seconds);
    _exit(1);
}

// For a rank that is initialized. Flushes its output before anything that makes the launcher kill it.
Runtime* stop_unless_first_failure() {
    flush_program_output();
    Runtime* const e = runtime();
    stop_unless_first_failure(e);
    return e;
}

// The launcher has better information about a failed rank, and ends this one when it reports the failure. If
// it has nothing to report this rank continues.
void wait_for_launcher_report(const Runtime* e) {
    const bool native_launcher = e != nullptr && e->job.protocol == boot::Protocol::mpiexec;
    constexpr unsigned launcher_notice_seconds = 2;
    if (native_launcher && e->segment && e->segment.faults().state().fault_tolerant == 0)
        sleep(launcher_notice_seconds);
}

// Prints the diagnostic and ends the job. mpiexec prints nothing about a rank that has recorded its own
// message.
[[noreturn]] void end_job(Runtime* e, int code, const Diagnostic& problem) {
    report(problem);
    if (e != nullptr && e->segment) {
        wire::RankBlock& block = e->segment.block(static_cast<uint32_t>(e->job.local_index));
        std::strncpy(block.recorder.abort_text, problem.what.c_str(), sizeof block.recorder.abort_text - 1);
        block.abort_code.store(code, std::memory_order_relaxed);
        block.state.store(static_cast<uint32_t>(wire::RankState::aborted), std::memory_order_release);
    }
    if (e != nullptr && e->job.launcher != nullptr) e->job.launcher->abort(code, problem.what);
    const bool is_zero_status = (code & 0xff) == 0;
    _exit(is_zero_status ? 1 : code);
}

} // namespace

std::string describe(Err error) {
    std::string s = std::string(err_name(error)) + ": " + std::string(err_text(error));
    const ErrDetail& d = last_error();
    if (error != Err::success && d.cls == error && d.why[0] != '\0') s += std::string("; ") + d.why;
    return s;
}

// Ends this process only: the parent and its job are not affected.
void exit_forked_child(const char* function) noexcept {
    report({std::string(function) + " was called in a forked child of a rank",
            location_text(nullptr, nullptr),
            "a child made by fork() is not a rank: connections and shared memory belong to its parent",
            "call MPI in the parent only; start other programs by exec, or other ranks by MPI_Comm_spawn"});
    _exit(1);
}

void abort_job(const char* function, Err error, const Comm* comm) noexcept {
    if (phase() == Phase::forked_child) exit_forked_child(function);
    flush_program_output(); // before anything that makes the launcher kill this rank
    Runtime* const e = find_runtime();
    const ErrDetail& d = last_error();
    // Several requests in one call: the details belong to one that failed.
    const Err cause = error == Err::in_status && d.cls != Err::success ? d.cls : error;
    if (cause == Err::proc_failed) wait_for_launcher_report(e);
    stop_unless_first_failure(e);
    const bool has_detail = d.cls == cause && d.why[0] != '\0';
    Diagnostic p;
    p.what = std::string(function) + " failed: " + std::string(err_name(cause));
    if (cause != Err::other)
        p.what += ", " + std::string(err_text(cause)); // MPI_ERR_OTHER has no meaningful text
    p.where = location_text(e, comm);
    p.why = has_detail ? std::string(d.why) : std::string(err_text(cause));
    p.fix = has_detail && d.fix[0] != '\0'
                ? d.fix
                : "correct the call, or set MPI_ERRORS_RETURN to handle errors in the application";
    end_job(e, 1, p);
}

void end_after_lost_connection(int world_rank) noexcept {
    Runtime* const e = stop_unless_first_failure();
    end_job(
        e, 1,
        {"the connection to rank " + std::to_string(world_rank) + " was lost", location_text(e, nullptr),
         "a TCP connection between the two hosts ended, but the rank still runs: messages are missing",
         "look for a firewall or a restarted network between the hosts; with --keep-going the job continues "
         "without that rank"});
}

Err abort(Comm& comm, int code) {
    Runtime* const e = stop_unless_first_failure();
    end_job(
        e, code,
        {"rank " + std::to_string(e->job.rank) + " called MPI_Abort with error code " + std::to_string(code),
         location_text(e, &comm), "the program requested it",
         "see its output above; mpiexec --label marks the output of each rank"});
}

} // namespace zipmpi::core
