// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/host_groups.hpp"

#include "boot/local_diagnostic.hpp"

#include <cstdint>
#include <cstdio>

namespace zipmpi::boot {
namespace {

// Hosts with equal names differ in the boot id; containers on one kernel differ in the name.
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

bool group_by_host(Job& job, Diagnostic& why) {
    const auto refuse = [&](const std::string& reason) {
        why = rank_diagnostic(job.rank, job.size, "the ranks on this host cannot be determined", reason,
                              "start the program with a launcher that offers PMI_process_mapping or PMIx, "
                              "such as ZipMPI's mpiexec, mpiexec.hydra or srun");
        return false;
    };
    const std::string own_host = host_token();
    if (!job.launcher->put("host", own_host) || !job.launcher->fence())
        return refuse("the launcher has no process mapping and refuses to exchange host names");
    job.node_ranks.clear();
    for (int r = 0; r < job.size; ++r) {
        std::string rank_host;
        if (!host_of(job, r, rank_host))
            return refuse("the launcher did not return the host name of rank " + std::to_string(r));
        if (rank_host == own_host) job.node_ranks.push_back(r);
    }
    return true;
}

} // namespace zipmpi::boot
