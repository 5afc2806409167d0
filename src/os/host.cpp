// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "os/host.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace zipmpi::os {
namespace {

// Whole CPUs allowed by the cgroup quota; 0: no quota. Both cgroup versions, at their usual mount points.
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

} // namespace

std::string host_name() {
    utsname u{};
    return uname(&u) == 0 ? u.nodename : "localhost";
}

void CpuUnion::add(pid_t pid) {
    constexpr size_t max_words = (1U << 20) / 64;
    std::vector<uint64_t> mask(std::max<size_t>(1024 / 64, bits_.size()));
    const auto query = [&] {
        return sched_getaffinity(pid, mask.size() * sizeof mask[0],
                                 reinterpret_cast<cpu_set_t*>(mask.data())) == 0;
    };
    bool found = query();
    while (!found && errno == EINVAL && mask.size() < max_words) { // the mask is too small
        mask.resize(mask.size() * 2);
        found = query();
    }
    if (!found) return;
    bits_.resize(mask.size());
    for (size_t i = 0; i < mask.size(); ++i) bits_[i] |= mask[i];
}

std::vector<int> CpuUnion::list() const {
    std::vector<int> cpus;
    for (size_t i = 0; i < bits_.size(); ++i)
        for (uint64_t word = bits_[i]; word != 0; word &= word - 1)
            cpus.push_back(static_cast<int>(i * 64) + std::countr_zero(word));
    return cpus;
}

int CpuUnion::usable() const noexcept {
    int n = 0;
    for (const uint64_t word : bits_) n += std::popcount(word);
    const int quota = quota_cpus();
    if (quota > 0) n = std::min(n, quota);
    return std::max(n, 1);
}

int usable_cpus() noexcept {
    CpuUnion cpus;
    cpus.add(0);
    return cpus.usable();
}

uint64_t physical_memory() noexcept {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes) : 0;
}

} // namespace zipmpi::os
