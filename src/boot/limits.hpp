// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How long to wait for a launcher. A stale variable must end in a message, never in a hang; a fence has no
// limit, because it waits for other ranks and not for the launcher.
#pragma once

#include <cerrno>
#include <ctime>
#include <string>

namespace zipmpi::boot {

uint64_t silence_limit_ns(); // of a host, for the launcher
// Settings of the launcher for jobs over several clusters.
std::string gateway_program(); // empty: beside mpiexec
int grace_seconds();
// Of the live mapper: 0: off.
int live_map_seconds();
bool live_map_reports();
bool avoids_busy_cpus();                        // when ranks are bound
int handshake_limit_seconds();                  // for the first answer: the knob boot.handshake_timeout
inline constexpr int request_limit_ms = 60'000; // for later answers that do not depend on other ranks

// After an abort: waits to be ended by the launcher. Back only if it did not act in time.
inline void await_the_end() {
    timespec left{5, 0};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

} // namespace zipmpi::boot
