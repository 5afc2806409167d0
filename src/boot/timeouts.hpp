// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Timeouts of launcher connections, and parameters of the launcher. A stale variable must end in a message,
// never in a hang. A fence has no timeout, because it waits for other ranks.
#pragma once

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <string>

namespace zipmpi::boot {

// Parameters of the launcher.
uint64_t heartbeat_timeout_ns(); // of a host
uint64_t host_wait_ns();         // for a host that does not answer
uint32_t stack_seconds_limit();  // to read stacks of ranks; 0: none are read
int rebind_interval_seconds();   // 0: off
bool should_report_rebinding();
bool should_avoid_busy_cpus();
bool should_count_other_jobs();
const std::string& huge_page_setting();           // auto, yes or no
const std::string& forwarded_variables();         // launch.forward
int handshake_timeout_seconds();                  // for the first reply: launch.handshake_timeout
inline constexpr int request_timeout_ms = 60'000; // for later replies that do not depend on other ranks

// After an abort: waits up to 5 s to be killed by the launcher.
inline void wait_for_termination() {
    timespec left{5, 0};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

} // namespace zipmpi::boot
