// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which CPUs others keep busy, from the kernel's own counts: /proc/loadavg and /proc/stat show the whole
// machine, in containers too.
#pragma once

#include "launch/map/units.hpp"

#include <cstdint>

namespace zipmpi::launch {

struct CpuTicks { // of 10 ms
    uint64_t idle = 0, used = 0;
};
// Of each CPU, by its number.
std::vector<CpuTicks> parse_ticks(std::string_view proc_stat);
// CPUs that worked and were never idle from one reading to the next, two ticks or more apart.
CpuList never_idle(const std::vector<CpuTicks>& before, const std::vector<CpuTicks>& after);
// Tasks that run or want to run, from /proc/loadavg; 0 if it is not understood.
uint32_t parse_running(std::string_view loadavg);

class BusyCpus {
  public:
    // Looks whether more runs than this process and `expected` others. If so it takes the first reading.
    void begin(uint32_t expected = 0);
    // The CPUs that others keep busy. Waits until the second reading means something: at most 25 ms, and not
    // at all where nothing else ran at the beginning.
    CpuList end();

  private:
    std::vector<CpuTicks> before_;
    uint64_t begun_ = 0;
};

} // namespace zipmpi::launch
