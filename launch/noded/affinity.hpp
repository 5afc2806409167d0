// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Sets of CPUs, and moving running processes to others.
#pragma once

#include "launch/map/units.hpp"

#include <cstddef>
#include <sched.h>
#include <sys/types.h>
#include <vector>

namespace zipmpi::launch {

// A list of CPUs as the kernel takes it; sched_setaffinity() wants get() and bytes().
class CpuSet {
  public:
    explicit CpuSet(const CpuList& cpus);
    [[nodiscard]] cpu_set_t* get() { return reinterpret_cast<cpu_set_t*>(room_.data()); }
    [[nodiscard]] size_t bytes() const { return room_.size(); }
    bool operator==(const CpuSet&) const = default;

  private:
    static constexpr size_t most_cpus = 1 << 14;
    std::vector<std::byte> room_ = std::vector<std::byte>(CPU_ALLOC_SIZE(most_cpus));
};

// All threads of a process that may use these CPUs: each has a set of its own. A thread that has chosen
// others since, or whose program has, stays where it is. False: the first thread
// has, or the process is gone.
bool move_process(pid_t pid, const CpuList& from, const CpuList& to);

} // namespace zipmpi::launch
