// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The clock of simulated processes. The program defines clock_gettime() and timerfd_settime() itself, so that
// the library code that it runs reads and sets virtual time.
#pragma once

#include <cstdint>

namespace zipmpi::simulation {

inline constexpr uint64_t us = 1000, ms = 1000 * us, second = 1000 * ms;
inline constexpr uint64_t never = ~uint64_t{0};

namespace virtual_clock {

uint64_t now();
void set(uint64_t ns);
// Forgets the latest setting of a timer.
void clear_timer();
// The latest setting of a timer since then: its time, or `never` if it was switched off. Returns false if no
// timer was set.
bool read_timer(uint64_t& due);

} // namespace virtual_clock
} // namespace zipmpi::simulation
