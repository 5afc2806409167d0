// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Host name, usable CPUs and memory, without name resolution or device access.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace zipmpi::os {

std::string host_name();    // from uname(2)
int usable_cpus() noexcept; // CPUs this process may run on: affinity mask, capped by the cgroup CPU quota

uint64_t physical_memory() noexcept; // bytes that the host has; 0: unknown

// Union of the CPUs that several processes may use; each may be bound to a different one.
class CpuUnion {
  public:
    void add(pid_t pid);                         // 0: this process; no effect if its mask cannot be read
    [[nodiscard]] std::vector<int> list() const; // CPU numbers, ascending
    [[nodiscard]] int usable() const noexcept;   // at least 1; capped by the cgroup CPU quota

  private:
    std::vector<uint64_t> bits_;
};

} // namespace zipmpi::os
