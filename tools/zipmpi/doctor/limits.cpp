// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Checks of the limits of this process, of its control group, and of its CPUs.
#include "doctor/doctor.hpp"

#include "os/host.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace zipmpi::tool {
namespace {

constexpr uint64_t MiB_bytes = 1 << 20;

struct Limit {
    int resource;
    uint64_t minimum;
    const char* id;
    const char* name; // with its unit
    uint64_t unit;
    const char* why;
    const char* option;    // of ulimit
    const char* conf_item; // item in limits.conf
};

constexpr Limit limits[] = {
    {RLIMIT_NOFILE, 1024, "open-files", "open files", 1,
     "mpiexec needs about four descriptors per rank of a host: jobs with many ranks will not start", "-n",
     "nofile"},
    {RLIMIT_FSIZE, uint64_t{1} << 42, "file-size", "MiB for a file", MiB_bytes,
     "ranks share a memory file, and memory of MPI_Alloc_mem and of windows does not fit "
     "into a small one",
     "-f", "fsize"},
    {RLIMIT_AS, uint64_t{8} << 30, "address-space", "MiB of address space", MiB_bytes,
     "each rank maps the memory of all ranks of its host, most of which is never used", "-v", "as"},
    {RLIMIT_CPU, uint64_t{1} << 40, "cpu-time", "seconds of processor time", 1,
     "the kernel kills ranks that compute for longer (SIGXCPU)", "-t", "cpu"},
};

void check_rlimit(const Limit& l, Findings& found) {
    rlimit now{};
    getrlimit(static_cast<__rlimit_resource_t>(l.resource), &now);
    // mpiexec raises the soft limit of open files.
    const rlim_t counts = l.resource == RLIMIT_NOFILE ? now.rlim_max : now.rlim_cur;
    if (counts == RLIM_INFINITY || counts >= l.minimum) return;
    const bool may_raise = now.rlim_max == RLIM_INFINITY || now.rlim_max >= l.minimum;
    found.push_back({l.id, fmt::format("the limit is {} {}", counts / l.unit, l.name), l.why,
                     may_raise ? fmt::format("ulimit {} unlimited (or {} at least) before the job", l.option,
                                             l.minimum / l.unit)
                               : fmt::format("as root: a line '* hard {} unlimited' in "
                                             "/etc/security/limits.conf; under systemd or a batch system the "
                                             "corresponding setting (for example LimitNOFILE=)",
                                             l.conf_item)});
}

void check_locked_memory(Findings& found) {
    rlimit now{};
    getrlimit(RLIMIT_MEMLOCK, &now);
    std::error_code none;
    const bool rdma = std::filesystem::exists("/sys/class/infiniband", none) &&
                      !std::filesystem::is_empty("/sys/class/infiniband", none);
    const uint64_t least = rdma ? uint64_t{1} << 30 : uint64_t{64} << 10;
    if (now.rlim_cur == RLIM_INFINITY || now.rlim_cur >= least) return;
    found.push_back({"locked-memory", fmt::format("only {} KiB of memory may be locked", now.rlim_cur / 1024),
                     rdma ? "the RDMA devices of this host access locked memory only"
                          : "network libraries lock their queues and fail to start otherwise",
                     "ulimit -l unlimited before the job, or a line '* - memlock unlimited' in "
                     "/etc/security/limits.conf"});
}

size_t processes_of_user() {
    size_t n = 0;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", none)) {
        const std::string name = entry.path().filename();
        struct stat st {};
        if (name.find_first_not_of("0123456789") == std::string::npos &&
            stat(entry.path().c_str(), &st) == 0 && st.st_uid == getuid())
            ++n;
    }
    return n;
}

void check_processes(Findings& found) {
    rlimit now{};
    getrlimit(RLIMIT_NPROC, &now);
    if (now.rlim_cur == RLIM_INFINITY || getuid() == 0) return; // root is not limited
    const size_t used = processes_of_user();
    if (used + 64 <= now.rlim_cur) return;
    found.push_back(
        {"processes", fmt::format("this user may have {} processes and has {}", now.rlim_cur, used),
         "each rank is a process, and threads of libraries count as well",
         "ulimit -u 4096 before the job, or a line '* - nproc 4096' in /etc/security/limits.conf"});
}

// The smallest value of a file in the control group of this process and in its ancestors.
std::optional<uint64_t> smallest_cgroup_value(const std::string& controller, const std::string& file_v1,
                                              const std::string& file_v2) {
    std::optional<uint64_t> least;
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        const size_t first = line.find(':');
        const size_t second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
        const bool v2 = controllers == ",,";
        if (!v2 && controllers.find("," + controller + ",") == std::string::npos) continue;
        const std::string root = v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/" + controller;
        std::filesystem::path group = line.substr(second + 1);
        for (;; group = group.parent_path()) {
            std::ifstream in(root + group.string() + "/" + (v2 ? file_v2 : file_v1));
            if (uint64_t value = 0; in >> value) least = std::min(least.value_or(value), value);
            if (group == group.parent_path()) break;
        }
    }
    return least;
}

void check_cgroup_memory(Findings& found) {
    constexpr uint64_t no_limit = uint64_t{1} << 60;
    const auto memory = smallest_cgroup_value("memory", "memory.limit_in_bytes", "memory.max");
    if (!memory || *memory >= no_limit || *memory >= 512 * MiB_bytes) return;
    found.push_back(
        {"group-memory", fmt::format("the control group allows {} MiB of memory", *memory / MiB_bytes),
         "ranks are killed by the kernel (SIGKILL, 'oom-kill' in dmesg) when the job needs more",
         "request more: docker run --memory 8g, sbatch --mem=8G, MemoryMax= of the systemd unit, or "
         "resources.limits.memory of the pod"});
}

} // namespace

void check_limits(Findings& found) {
    for (const Limit& l : limits) check_rlimit(l, found);
    check_locked_memory(found);
    check_processes(found);
}

void check_cgroups(Findings& found) {
    check_cgroup_memory(found);
    const auto most = smallest_cgroup_value("pids", "pids.max", "pids.max");
    const auto now = smallest_cgroup_value("pids", "pids.current", "pids.current");
    if (most && *most < now.value_or(0) + 64)
        found.push_back({"group-processes", fmt::format("the control group allows {} processes", *most),
                         "each rank is a process, and threads of libraries count as well",
                         "request more: docker run --pids-limit 4096, TasksMax= of the systemd unit, or "
                         "podPidsLimit of the kubelet"});
    const auto quota = smallest_cgroup_value("cpu", "cpu.cfs_quota_us", "cpu.max");
    const auto period = smallest_cgroup_value("cpu", "cpu.cfs_period_us", "cpu.max.period").value_or(100'000);
    if (quota && *quota < period)
        found.push_back({"group-cpus",
                         fmt::format("the control group allows {:.2f} of one CPU",
                                     static_cast<double>(*quota) / static_cast<double>(period)),
                         "all ranks are stopped for the rest of each period of 100 ms",
                         "request more: docker run --cpus 4, CPUQuota=400% of the systemd unit, or "
                         "resources.limits.cpu of the pod"});
}

void check_processors(Findings& found) {
    os::CpuUnion own;
    own.add(0);
    const long here = sysconf(_SC_NPROCESSORS_ONLN);
    const auto usable = static_cast<long>(own.list().size());
    const bool granted = std::getenv("SLURM_JOB_ID") != nullptr || std::getenv("PBS_JOBID") != nullptr;
    if (usable * 2 <= here)
        found.push_back({"affinity", fmt::format("this shell may use {} of {} CPUs", usable, here),
                         "all ranks started from this shell share them",
                         "taskset -p -c 0-" + std::to_string(here - 1) +
                             " $$ in this shell; in a container --cpuset-cpus, in a batch job request more "
                             "cores per node",
                         granted});
    double load = 0;
    std::ifstream("/proc/loadavg") >> load;
    if (load > 1.5 * static_cast<double>(usable))
        found.push_back({"busy", fmt::format("{:.1f} processes compete for {} CPUs", load, usable),
                         "ranks wait for CPUs, and measurements are unreliable", "", true});
}

void check_scratch(Findings& found) {
    const char* set = std::getenv("TMPDIR");
    const std::string folder = set != nullptr && *set != '\0' ? set : "/tmp";
    struct statvfs space {};
    std::string why;
    if (access(folder.c_str(), W_OK | X_OK) != 0)
        why = "it does not exist or is not writable";
    else if (statvfs(folder.c_str(), &space) == 0 && space.f_bavail * space.f_frsize < 4 * MiB_bytes)
        why = fmt::format("it has {} KiB left", space.f_bavail * space.f_frsize / 1024);
    if (why.empty()) return;
    found.push_back({"scratch", "the folder of scratch files, " + folder + ", cannot be used: " + why,
                     "ZipMPI jobs write no files, but programs of other MPIs under this mpiexec do, and "
                     "PMIx",
                     "free space there, or set another folder: export TMPDIR=/var/tmp"});
}

} // namespace zipmpi::tool
