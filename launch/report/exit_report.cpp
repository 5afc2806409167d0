// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/report/exit_report.hpp"

#include "launch/report/report_text.hpp"

#include <csignal>
#include <cstring>
#include <sys/wait.h>

namespace zipmpi::launch {
namespace {

struct SignalAdvice {
    int signal;
    const char *why, *fix;
};

constexpr SignalAdvice advices[] = {
    {SIGSEGV, "invalid memory access (segmentation fault)",
     "find the access with a debugger, or compile with -g -fsanitize=address"},
    {SIGBUS, "access to memory that does not exist, for example past the end of a mapped file",
     "find the access with a debugger; check free disk space if it maps files"},
    {SIGABRT, "the program called abort(), or failed an assertion, or did not catch an exception",
     "see its last output"},
    {SIGFPE, "integer division by zero, or an enabled floating-point trap",
     "find the instruction with a debugger"},
    {SIGILL, "an instruction that this processor does not support",
     "compile it for this machine (-march), not for a newer one"},
    {SIGKILL, "killed from outside: most often by the kernel because memory ran out, or by the batch system",
     "search the kernel log (dmesg) for 'Out of memory', or request more memory or time"},
    {SIGTERM, "terminated from outside: most often by the batch system or a user",
     "check the job's time limit"},
    {SIGXCPU, "the limit of CPU time was exceeded", "raise the limit (ulimit -t)"},
    {SIGPIPE, "it wrote to a pipe or socket whose reader has closed it",
     "find out which process closed the other end"},
};

std::string process_text(const RankExit& d) {
    return "rank " + std::to_string(d.rank) + " of " + std::to_string(d.world_size) + ", host " + d.host +
           ", pid " + std::to_string(d.pid);
}

std::string survivors_text(const RankExit& d) {
    if (d.others_alive == 0) return {};
    if (d.others_continue) return "; the others continue";
    return d.others_alive == 1 ? "; the other rank was terminated"
                               : "; the other " + std::to_string(d.others_alive) + " ranks were terminated";
}

std::string mpi_location_text(const RankExit& d) {
    if (!d.snapshot.function.empty()) return ", in " + call_text(d.snapshot);
    switch (d.snapshot.phase) {
    case RankPhase::no_mpi:
        return {};
    case RankPhase::finalized:
        return ", after MPI_Finalize";
    default:
        return ", outside MPI" +
               (d.last_call.empty() ? std::string() : "; its last MPI call was " + d.last_call);
    }
}

} // namespace

std::string signal_name(int signal) {
    const char* name = sigabbrev_np(signal);
    return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

std::string exit_text(int wait_status) {
    if (WIFSIGNALED(wait_status)) return "killed by " + signal_name(WTERMSIG(wait_status));
    return "exited with status " + std::to_string(WEXITSTATUS(wait_status));
}

Diagnostic describe(const RankExit& d) {
    const std::string rank = "rank " + std::to_string(d.rank);
    Diagnostic p;
    p.where = process_text(d) + mpi_location_text(d);
    if (WIFSIGNALED(d.wait_status)) {
        const int s = WTERMSIG(d.wait_status);
        p.what = rank + " was killed by " + signal_name(s) + " (signal " + std::to_string(s) + ")" +
                 survivors_text(d);
        p.why = "the program " + d.program + " does not handle this signal";
        p.fix = "find out which process sent it";
        for (const auto& a : advices)
            if (a.signal == s) p.why = a.why, p.fix = a.fix;
        if (WCOREDUMP(d.wait_status)) p.fix += "; a core file was written";
    } else if (WEXITSTATUS(d.wait_status) == 0) {
        p.what = rank + " exited without calling MPI_Finalize" + survivors_text(d);
        p.why = "its exit status is 0, but it had called MPI_Init, and other ranks may wait for it";
        p.fix = "call MPI_Finalize before every exit, or MPI_Abort to end the job early";
    } else {
        const int status = WEXITSTATUS(d.wait_status);
        p.what = rank + " exited with status " + std::to_string(status) + survivors_text(d);
        p.why = "the program " + d.program + " returned this status; 0 means success";
        p.fix = status == 127 ? "127 often means that a program or a shared library was not found: see above"
                : status == 126 ? "126 often means that a program could not be executed: see above"
                                : "see its output above; --label marks the output of each rank";
    }
    return p;
}

Diagnostic describe_abort(const RankExit& d, int code, std::string_view text) {
    Diagnostic p;
    p.what = "rank " + std::to_string(d.rank) + " called MPI_Abort with error code " + std::to_string(code) +
             survivors_text(d);
    p.where = process_text(d);
    p.why = text.empty() || text == "N/A" ? "the program requested it" : std::string(text);
    p.fix = "see its output above; --label marks the output of each rank";
    return p;
}

} // namespace zipmpi::launch
