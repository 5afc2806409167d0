// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/affinity.hpp"

#include <cstddef>
#include <cstdlib>
#include <dirent.h>
#include <sched.h>

namespace zipmpi::launch {

namespace {

bool has_affinity(pid_t task, const CpuSet& cpus) {
    CpuSet now{CpuList()};
    return sched_getaffinity(task, now.bytes(), now.get()) == 0 && now == cpus;
}

} // namespace

CpuSet::CpuSet(const CpuList& cpus) {
    for (const int cpu : cpus) CPU_SET_S(static_cast<size_t>(cpu), bytes(), get());
}

bool rebind_process(pid_t pid, const CpuList& from, const CpuList& to) {
    const CpuSet before(from);
    CpuSet after(to);
    DIR* tasks = opendir(("/proc/" + std::to_string(pid) + "/task").c_str());
    if (tasks == nullptr) return false;
    bool moved = false;
    while (const dirent* entry = readdir(tasks))
        if (const int task = std::atoi(entry->d_name); task > 0 && has_affinity(task, before)) {
            sched_setaffinity(task, after.bytes(), after.get());
            moved = moved || task == pid;
        }
    closedir(tasks);
    return moved;
}

} // namespace zipmpi::launch
