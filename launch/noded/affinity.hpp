// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// CPU sets, and moving running processes to other CPUs.
#pragma once

#include "launch/placement/hardware_units.hpp"

#include <cstddef>
#include <sched.h>
#include <sys/types.h>
#include <vector>

namespace zipmpi::launch {

// A list of CPUs in the form of sched_setaffinity(), which takes get() and bytes().
class CpuSet {
  public:
    explicit CpuSet(const CpuList& cpus);
    [[nodiscard]] cpu_set_t* get() { return reinterpret_cast<cpu_set_t*>(mask_.data()); }
    [[nodiscard]] size_t bytes() const { return mask_.size(); }
    bool operator==(const CpuSet&) const = default;

  private:
    static constexpr size_t max_cpus = 1 << 14;
    std::vector<std::byte> mask_ = std::vector<std::byte>(CPU_ALLOC_SIZE(max_cpus));
};

// Sets the CPUs of all threads of a process. A thread whose CPUs the program has changed since is left alone.
// Returns false if that applies to the first thread, or if the process has exited.
bool rebind_process(pid_t pid, const CpuList& from, const CpuList& to);

} // namespace zipmpi::launch
