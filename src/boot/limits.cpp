// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/limits.hpp"

#include "base/param.hpp"

namespace zipmpi::boot {
namespace {

Param<int64_t> handshake_timeout{
    "boot.handshake_timeout",
    5,
    {1, 3600},
    Unit::seconds,
    Level::user,
    Scope::local,
    "how long to wait for the first answer of the launcher before giving up on it"};

// Read by the launcher, and known here so that ranks do not take them for mistakes.
Param<std::string> gateway_path{"bridge.gateway_program",
                                "",
                                nullptr,
                                Level::tuner,
                                Scope::all_equal,
                                "path of zipmpi-gateway on the hosts of gateways; empty: beside mpiexec"};
Param<int64_t> grace{"bridge.grace",
                     30,
                     {0, 86400},
                     Unit::seconds,
                     Level::user,
                     Scope::all_equal,
                     "how long a job goes on after the last way between two of its clusters is lost"};

Param<int64_t> live_map{
    "map.live",
    0,
    {0, 3600},
    Unit::seconds,
    Level::user,
    Scope::all_equal,
    "time in which mpiexec notices that ranks talk to others than before, and moves those that would gain "
    "by it to other cores; 0: never"};
Param<bool> live_report{"map.live_report", false, Level::user, Scope::all_equal,
                        "say on stderr when the live mapper moves ranks, and why"};

Param<bool> avoid_busy{"map.avoid_busy", true, Level::user, Scope::all_equal,
                       "do not bind ranks to CPUs that other work keeps busy when the job starts"};

Param<int64_t> silence{"boot.silence_ms",
                       3500,
                       {1000, 3600000},
                       Unit::none,
                       Level::user,
                       Scope::all_equal,
                       "a host of which mpiexec hears nothing for so many milliseconds is taken for dead"};

} // namespace

uint64_t silence_limit_ns() { return static_cast<uint64_t>(silence.get()) * 1'000'000; }
std::string gateway_program() { return gateway_path.get(); }
int grace_seconds() { return static_cast<int>(grace.get()); }
int live_map_seconds() { return static_cast<int>(live_map.get()); }
bool live_map_reports() { return live_report; }
bool avoids_busy_cpus() { return avoid_busy; }
int handshake_limit_seconds() { return static_cast<int>(handshake_timeout.get()); }

} // namespace zipmpi::boot
