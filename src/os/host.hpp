// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Facts about this host that need no name resolution and no device.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace zipmpi::os {

std::string host_name();    // as uname(2) says it; never looked up
int usable_cpus() noexcept; // CPUs this process may run on: affinity mask, capped by the cgroup CPU quota

// The CPUs that several processes may run on together: each may be bound to one of its own.
class CpuUnion {
  public:
    void add(pid_t pid);                         // 0 is this process; one that cannot be asked adds nothing
    [[nodiscard]] std::vector<int> list() const; // their numbers, in order
    [[nodiscard]] int usable() const noexcept;   // at least 1; capped by the cgroup CPU quota

  private:
    std::vector<uint64_t> bits_;
};

} // namespace zipmpi::os
