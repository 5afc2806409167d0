// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/host_groups.hpp"

#include "boot/problem_here.hpp"

#include <cstdint>
#include <cstdio>

namespace zipmpi::boot {
namespace {

// Two hosts of one name differ in the boot id; two containers of one kernel differ in the name.
std::string host_token() {
    std::string text = os::host_name() + "/";
    if (std::FILE* f = std::fopen("/proc/sys/kernel/random/boot_id", "re")) {
        char id[64] = {};
        text.append(id, std::fread(id, 1, sizeof id, f));
        std::fclose(f);
    }
    uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    char hex[20];
    std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(hash));
    return hex;
}

} // namespace

bool host_of(const Job& job, int rank, std::string& name) {
    if (rank != job.rank) return job.launcher->get(rank, "host", name);
    name = host_token();
    return true;
}

bool group_by_host(Job& job, Problem& why) {
    const auto refuse = [&](const std::string& reason) {
        why = problem_of_rank(job.rank, job.size, "the ranks on this host cannot be found", reason,
                              "start the program with a launcher that offers PMI_process_mapping or PMIx, "
                              "such as ZipMPI's mpiexec, mpiexec.hydra or srun");
        return false;
    };
    const std::string mine = host_token();
    if (!job.launcher->put("host", mine) || !job.launcher->fence())
        return refuse("the launcher gives no process mapping and refuses to exchange host names");
    job.node_ranks.clear();
    for (int r = 0; r < job.size; ++r) {
        std::string theirs;
        if (!host_of(job, r, theirs))
            return refuse("the launcher does not hand out the host name of rank " + std::to_string(r));
        if (theirs == mine) job.node_ranks.push_back(r);
    }
    return true;
}

} // namespace zipmpi::boot
