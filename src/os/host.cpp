// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "os/host.hpp"

#include <algorithm>
#include <cstdio>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <vector>

namespace zipmpi::os {
namespace {

// Whole CPUs that the cgroup quota allows, or 0 if there is no quota. Both cgroup versions, at the usual
// mounts.
int quota_cpus() noexcept {
    long long quota = -1;
    long long period = 0;
    if (std::FILE* f = std::fopen("/sys/fs/cgroup/cpu.max", "re")) {
        if (std::fscanf(f, "%lld %lld", &quota, &period) != 2) quota = -1; // "max": no quota
        std::fclose(f);
    } else if (std::FILE* q = std::fopen("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "re")) {
        if (std::fscanf(q, "%lld", &quota) != 1) quota = -1;
        std::fclose(q);
        if (std::FILE* p = std::fopen("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "re")) {
            if (std::fscanf(p, "%lld", &period) != 1) period = 0;
            std::fclose(p);
        }
    }
    if (quota <= 0 || period <= 0) return 0;
    return static_cast<int>(std::max(1LL, quota / period));
}

int affinity_cpus() noexcept {
    for (int size = 1024; size <= 1 << 20; size *= 2) { // the kernel says EINVAL while the mask is too small
        cpu_set_t* set = CPU_ALLOC(size);
        if (set == nullptr) return 1;
        const size_t bytes = CPU_ALLOC_SIZE(size);
        const bool ok = sched_getaffinity(0, bytes, set) == 0;
        const int n = ok ? CPU_COUNT_S(bytes, set) : 0;
        CPU_FREE(set);
        if (ok) return std::max(1, n);
    }
    return 1;
}

} // namespace

std::string host_name() {
    utsname u{};
    return uname(&u) == 0 ? u.nodename : "localhost";
}

int usable_cpus() noexcept {
    const int quota = quota_cpus();
    const int allowed = affinity_cpus();
    return quota > 0 ? std::min(quota, allowed) : allowed;
}

} // namespace zipmpi::os
