// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/report/death.hpp"

#include "launch/report/wording.hpp"

#include <csignal>
#include <cstring>
#include <sys/wait.h>

namespace zipmpi::launch {
namespace {

struct SignalAdvice {
    int signal;
    const char *why, *todo;
};

constexpr SignalAdvice advices[] = {
    {SIGSEGV, "it touched memory that is not its own",
     "find the place with a debugger or by compiling with -g -fsanitize=address"},
    {SIGBUS, "it touched memory that does not exist, e.g. behind the end of a mapped file",
     "find the place with a debugger; check free disk space if it maps files"},
    {SIGABRT, "it ended itself: abort(), a failed assertion or an uncaught exception",
     "see what it wrote just before"},
    {SIGFPE, "an integer was divided by zero, or a floating-point trap was on",
     "find the place with a debugger"},
    {SIGILL, "it met an instruction that this processor does not have",
     "compile it for this machine (-march), not for a newer one"},
    {SIGKILL, "somebody killed it: most often the kernel because memory ran out, or the batch system",
     "look into the kernel log (dmesg) for 'Out of memory', or ask for more memory or time"},
    {SIGTERM, "somebody asked it to end: most often the batch system or a user",
     "check the job's time limit"},
    {SIGXCPU, "it used up its CPU time", "raise the limit (ulimit -t)"},
    {SIGPIPE, "it wrote to a pipe or socket that nobody reads any more", "find out who closed the other end"},
};

std::string who(const Death& d) {
    return "rank " + std::to_string(d.rank) + " of " + std::to_string(d.world_size) + ", host " + d.host +
           ", pid " + std::to_string(d.pid);
}

std::string others(const Death& d) {
    if (d.others_alive == 0) return {};
    if (d.others_go_on) return "; the others go on";
    return d.others_alive == 1 ? "; the other rank was ended"
                               : "; the other " + std::to_string(d.others_alive) + " ranks were ended";
}

std::string where_in_mpi(const Death& d) {
    if (!d.place.function.empty()) return ", in " + call_text(d.place);
    switch (d.place.life) {
    case Life::no_mpi:
        return {};
    case Life::finalized:
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

std::string ending_text(int wait_status) {
    if (WIFSIGNALED(wait_status)) return "killed by " + signal_name(WTERMSIG(wait_status));
    return "exited with status " + std::to_string(WEXITSTATUS(wait_status));
}

Problem describe(const Death& d) {
    const std::string rank = "rank " + std::to_string(d.rank);
    Problem p;
    p.where = who(d) + where_in_mpi(d);
    if (WIFSIGNALED(d.wait_status)) {
        const int s = WTERMSIG(d.wait_status);
        p.what =
            rank + " was killed by " + signal_name(s) + " (signal " + std::to_string(s) + ")" + others(d);
        p.why = "the program " + d.program + " does not handle this signal";
        p.todo = "find out who sent it";
        for (const auto& a : advices)
            if (a.signal == s) p.why = a.why, p.todo = a.todo;
        if (WCOREDUMP(d.wait_status)) p.todo += "; a core file was written";
    } else if (WEXITSTATUS(d.wait_status) == 0) {
        p.what = rank + " exited without calling MPI_Finalize" + others(d);
        p.why = "its exit status is 0, but it had called MPI_Init and the other ranks may wait for it";
        p.todo = "call MPI_Finalize before every exit, or MPI_Abort to end the job early";
    } else {
        const int status = WEXITSTATUS(d.wait_status);
        p.what = rank + " exited with status " + std::to_string(status) + others(d);
        p.why = "the program " + d.program + " chose this status; 0 would mean success";
        p.todo = status == 127 ? "127 often means that a program or a shared library was not found: see above"
                 : status == 126 ? "126 often means that a program could not be executed: see above"
                                 : "see what it wrote before; --label shows which rank wrote what";
    }
    return p;
}

Problem describe_abort(const Death& d, int code, std::string_view text) {
    Problem p;
    p.what = "rank " + std::to_string(d.rank) + " called MPI_Abort with error code " + std::to_string(code) +
             others(d);
    p.where = who(d);
    p.why = text.empty() || text == "N/A" ? "the program ended the job itself" : std::string(text);
    p.todo = "see what it wrote before; --label shows which rank wrote what";
    return p;
}

} // namespace zipmpi::launch
