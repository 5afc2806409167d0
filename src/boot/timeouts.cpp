// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/timeouts.hpp"

#include "base/param.hpp"

namespace zipmpi::boot {
namespace {

Param<int64_t> handshake_timeout{"launch.handshake_timeout",
                                 5,
                                 {1, 3600},
                                 Unit::seconds,
                                 Level::user,
                                 Scope::local,
                                 "seconds to wait for the launcher's first reply"};

// Used by the launcher; declared here so that ranks do not report them as unknown.
Param<int64_t> rebind_interval{"launch.rebind_interval",
                               0,
                               {0, 3600},
                               Unit::seconds,
                               Level::user,
                               Scope::job_wide,
                               "seconds in which mpiexec detects a changed communication pattern and rebinds "
                               "ranks that gain by it; 0: off"};
Param<bool> rebind_report{"launch.rebind_report", false, Level::user, Scope::job_wide,
                          "print rebinding decisions to stderr"};

Param<bool> avoid_busy{"launch.avoid_busy_cpus", true, Level::user, Scope::job_wide,
                       "do not bind ranks to CPUs that are busy when the job starts"};

Param<bool> count_other_jobs{
    "launch.count_other_jobs", true, Level::user, Scope::job_wide,
    "whether waiting ranks spin less while they and the user's other jobs on the host outnumber the CPUs"};

Param<std::string> huge_pages{
    "launch.huge_pages",
    "auto",
    "auto|yes|no",
    Level::user,
    Scope::job_wide,
    "whether mpiexec lets ranks allocate memory in huge pages where the kernel gives them "
    "on request; auto: if each rank can have 256 MiB, and their first use is not slow"};

Param<int64_t> heartbeat_timeout{
    "launch.heartbeat_timeout_ms",
    3500,
    {1000, 3600000},
    Unit::none,
    Level::user,
    Scope::job_wide,
    "milliseconds without any message after which mpiexec treats a host as failed"};

Param<int64_t> host_wait{"launch.host_wait",
                         15,
                         {0, 3600},
                         Unit::seconds,
                         Level::user,
                         Scope::job_wide,
                         "seconds in which mpiexec tries again to reach a host that does not answer"};

Param<int64_t> stack_seconds{
    "launch.stack_seconds",
    10,
    {0, 600},
    Unit::seconds,
    Level::user,
    Scope::local,
    "seconds in which gdb or eu-stack read the stacks of the ranks for a hang report and at the "
    "time limit of a job; 0: no stacks"};

Param<std::string> forward{"launch.forward",
                           "",
                           nullptr,
                           Level::user,
                           Scope::local,
                           "further variables that ranks inherit in jobs that use other hosts: names, "
                           "comma-separated; `*` at the end of a name matches any suffix, `*` alone all"};

} // namespace

uint64_t heartbeat_timeout_ns() { return static_cast<uint64_t>(heartbeat_timeout.get()) * 1'000'000; }
uint64_t host_wait_ns() { return static_cast<uint64_t>(host_wait.get()) * 1'000'000'000; }
uint32_t stack_seconds_limit() { return static_cast<uint32_t>(stack_seconds.get()); }
int rebind_interval_seconds() { return static_cast<int>(rebind_interval.get()); }
bool should_report_rebinding() { return rebind_report; }
const std::string& huge_page_setting() { return huge_pages.get(); }
bool should_avoid_busy_cpus() { return avoid_busy; }
bool should_count_other_jobs() { return count_other_jobs; }
const std::string& forwarded_variables() { return forward.get(); }
int handshake_timeout_seconds() { return static_cast<int>(handshake_timeout.get()); }

} // namespace zipmpi::boot
