// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/singleton.hpp"

#include "os/clock.hpp"

#include <unistd.h>

namespace zipmpi::boot {

void make_singleton(Job& job) {
    job.protocol = Protocol::singleton;
    // The time distinguishes processes with a reused pid.
    job.id = "singleton-" + std::to_string(getpid()) + "-" + std::to_string(os::now_ns());
    job.rank = 0;
    job.size = 1;
    job.node_ranks = {0};
    job.local_index = 0;
    job.launcher.reset();
}

} // namespace zipmpi::boot
