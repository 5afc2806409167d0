// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "os/affinity.hpp"

#include <sched.h>

namespace zipmpi::os {

int migrate_to_cpu(unsigned number) noexcept {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return -1; // also: more CPUs than fit
    auto left = number % static_cast<unsigned>(CPU_COUNT(&allowed));
    unsigned cpu = 0;
    while (!CPU_ISSET(cpu, &allowed) || left-- > 0) ++cpu;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    const bool moved =
        sched_setaffinity(0, sizeof one, &one) == 0 && sched_setaffinity(0, sizeof allowed, &allowed) == 0;
    return moved ? static_cast<int>(cpu) : -1;
}

int current_cpu() noexcept { return sched_getcpu(); }

} // namespace zipmpi::os
