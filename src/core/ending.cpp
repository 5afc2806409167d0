// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How an error, or MPI_Abort, ends a job: one cause, one message, whoever prints it.
#include "base/problem.hpp"
#include "boot/detect.hpp"
#include "core/flush.hpp"
#include "core/state.hpp"
#include "os/host.hpp"
#include "proto/p2p/lane.hpp"
#include "proto/progress/helper.hpp"
#include "proto/rma/device.hpp"

#include <cstring>
#include <unistd.h>

namespace zipmpi::core {
namespace {

// The engine. Before MPI_Init as much of one as our mpiexec has put within reach: the memory that the ranks
// share, to agree on who prints.
Engine* engine_within_reach() {
    if (engine() != nullptr) return engine();
    boot::Detection found;
    Problem ignored;
    if (!boot::detect(boot::Environment(environ), found, ignored)) return nullptr;
    if (found.protocol != boot::Protocol::mpiexec) return nullptr;
    auto* early = new Engine; // lives until the process ends, which is now
    const bool joined =
        boot::start(environ, early->job, ignored) && boot::join_segment(early->job, early->segment, ignored);
    return joined ? early : nullptr;
}

std::string where_is(const Engine* e, const Comm* comm) {
    std::string s;
    if (e != nullptr) s = "rank " + std::to_string(e->job.rank) + " of " + std::to_string(e->job.size) + ", ";
    s += "host " + os::host_name() + ", pid " + std::to_string(getpid());
    return comm != nullptr ? s + ", on " + name_of(*comm) : s;
}

// Ranks that fail together with the first one stay quiet until the launcher ends them: were they to ask for
// it themselves, the first could be ended before it has said why.
void only_the_first_goes_on(Engine* e) {
    if (e == nullptr || !e->segment) return;
    auto& header = const_cast<wire::SegmentHeader&>(e->segment.header());
    if (header.fatal_errors.fetch_add(1, std::memory_order_relaxed) == 0) return;
    constexpr unsigned longer_than_any_launcher_needs = 2;
    sleep(longer_than_any_launcher_needs);
    _exit(1);
}

// It knows better why a rank is gone, and ends this one when it says so. If it knows nothing this rank goes
// on.
void leave_the_word_to_the_launcher(const Engine* e) {
    const bool ours = e != nullptr && e->job.protocol == boot::Protocol::mpiexec;
    constexpr unsigned longer_than_it_takes_to_notice = 2;
    if (ours && e->segment && e->segment.news().keeps_going == 0) sleep(longer_than_it_takes_to_notice);
}

// Prints the problem and ends the job. mpiexec says nothing about a rank that has left its own words.
[[noreturn]] void end_job(Engine* e, int code, const Problem& problem) {
    report(problem);
    if (e != nullptr && e->segment) {
        wire::RankBlock& block = e->segment.block(static_cast<uint32_t>(e->job.local_index));
        std::strncpy(block.recorder.abort_text, problem.what.c_str(), sizeof block.recorder.abort_text - 1);
        block.abort_code.store(code, std::memory_order_relaxed);
        block.state.store(static_cast<uint32_t>(wire::RankState::aborted), std::memory_order_release);
    }
    if (e != nullptr && e->job.launcher != nullptr) e->job.launcher->abort(code, problem.what);
    const bool looks_like_success = (code & 0xff) == 0;
    _exit(looks_like_success ? 1 : code);
}

} // namespace

std::string describe(Err error) {
    std::string s = std::string(err_name(error)) + ": " + std::string(err_text(error));
    const ErrDetail& d = last_error();
    if (error != Err::success && d.cls == error && d.why[0] != '\0') s += std::string("; ") + d.why;
    return s;
}

void die(const char* function, Err error, const Comm* comm) noexcept {
    flush_program_output(); // before anything that lets the launcher end this rank
    Engine* const e = engine_within_reach();
    const ErrDetail& d = last_error();
    // Several requests in one call: the detail is that of one that failed.
    const Err cause = error == Err::in_status && d.cls != Err::success ? d.cls : error;
    if (cause == Err::proc_failed) leave_the_word_to_the_launcher(e);
    only_the_first_goes_on(e);
    const bool known = d.cls == cause && d.why[0] != '\0';
    Problem p;
    p.what = std::string(function) + " failed: " + std::string(err_name(cause));
    if (cause != Err::other) p.what += ", " + std::string(err_text(cause)); // that one says nothing in words
    p.where = where_is(e, comm);
    p.why = known ? std::string(d.why) : std::string(err_text(cause));
    p.todo = known && d.todo[0] != '\0'
                 ? d.todo
                 : "correct the call, or set MPI_ERRORS_RETURN to handle errors in the program";
    end_job(e, 1, p);
}

Err abort(Comm& comm, int code) {
    flush_program_output();
    Engine* const e = engine();
    only_the_first_goes_on(e);
    end_job(
        e, code,
        {"rank " + std::to_string(e->job.rank) + " called MPI_Abort with error code " + std::to_string(code),
         where_is(e, &comm), "the program ended the job itself",
         "see what it wrote before; mpiexec --label shows which rank wrote what"});
}

} // namespace zipmpi::core
