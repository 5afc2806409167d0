// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Finds CPUs that other processes keep busy, from /proc/loadavg and /proc/stat, which cover the whole machine
// even in containers.
#pragma once

#include "launch/placement/hardware_units.hpp"

#include <cstdint>

namespace zipmpi::launch {

struct CpuTicks { // units of 10 ms
    uint64_t idle = 0, used = 0;
};
// By CPU number.
std::vector<CpuTicks> parse_ticks(std::string_view proc_stat);
// CPUs that worked and were never idle between two readings, which are at least two ticks apart.
CpuList never_idle(const std::vector<CpuTicks>& before, const std::vector<CpuTicks>& after);
// Running and runnable tasks in /proc/loadavg; 0 if it cannot be parsed.
uint32_t parse_running(std::string_view loadavg);

class BusyCpus {
  public:
    // Checks whether more tasks run than this process and `expected` others. If so, takes the first reading.
    void begin(uint32_t expected = 0);
    // The CPUs that others keep busy. Waits until the second reading is significant: at most 25 ms, and not
    // at all if begin() found no other task.
    CpuList end();

  private:
    std::vector<CpuTicks> before_;
    uint64_t begun_ = 0;
};

} // namespace zipmpi::launch
