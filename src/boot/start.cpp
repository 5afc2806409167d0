// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/detect.hpp"
#include "boot/host_groups.hpp"
#include "boot/mpiexec.hpp"
#include "boot/pmi_text.hpp"
#include "boot/pmix_loader.hpp"
#include "boot/problem_here.hpp"
#include "boot/process_mapping.hpp"
#include "boot/singleton.hpp"

#include <algorithm>

namespace zipmpi::boot {
namespace {

bool start_pmi(const Detection& found, Job& job, Problem& why) {
    PmiIdentity me;
    me.rank = found.rank;
    me.size = found.size;
    me.job_id = found.job_id;
    std::string reason;
    job.launcher = open_pmi(found.pmi_fd, found.protocol == Protocol::pmi2, me, reason);
    if (!job.launcher) {
        why = problem_of_rank(found.rank, found.size,
                              "the launcher's variables for PMI are set, but no launcher answers", reason,
                              "if this program was started by another MPI program or in a shell left over "
                              "from a job, run it with env -u PMI_FD -u PMI_RANK -u PMI_SIZE; else start it "
                              "with ZipMPI's mpiexec (a slow launcher: raise ZIPMPI_BOOT_HANDSHAKE_TIMEOUT)");
        return false;
    }
    job.protocol = me.protocol;
    job.id = me.job_id;
    job.rank = me.rank;
    job.size = me.size;
    job.app_number = me.app_number;
    job.universe_size = me.universe_size;
    if (job.size == 1) {
        job.node_ranks = {0};
        return true;
    }
    if (!ranks_on_my_node(me.mapping, job.rank, job.size, job.node_ranks)) return group_by_host(job, why);
    job.mapping = me.mapping;
    return true;
}

// A launcher inside a job of another launcher: the inner one's variables may be hidden by the outer one's.
bool other_launcher_disagrees(const Environment& env, const PmixIdentity& me, Problem& why) {
    const auto size = env.number("PMI_SIZE");
    if (!env.has("PMI_FD") || !size || *size == me.size) return false;
    why = problem_here("two launchers claim this process, and they disagree",
                       "the PMIx server of " + env.shown("PMIX_NAMESPACE") + " says rank " +
                           std::to_string(me.rank) + " of " + std::to_string(me.size) + ", " +
                           env.shown("PMI_FD") + " says rank " + std::string(env.get("PMI_RANK")) + " of " +
                           std::to_string(*size),
                       "take the variables of the outer launcher away from the inner one: "
                       "env -u PMIX_NAMESPACE mpiexec ..., or env -u PMI_FD mpirun ...");
    return true;
}

bool start_pmix(const Environment& env, Job& job, Problem& why) {
    PmixIdentity me;
    job.launcher = open_pmix(me, why);
    if (!job.launcher) return false;
    if (other_launcher_disagrees(env, me, why)) {
        job.launcher->finalize();
        return false;
    }
    job.protocol = Protocol::pmix;
    job.id = me.job_id;
    job.rank = me.rank;
    job.size = me.size;
    job.app_number = me.app_number;
    job.universe_size = me.universe_size;
    job.node_ranks = std::move(me.node_ranks);
    return true;
}

bool find_own_place(Job& job, Problem& why) {
    const auto place = std::find(job.node_ranks.begin(), job.node_ranks.end(), job.rank);
    if (place == job.node_ranks.end()) {
        why = problem_of_rank(job.rank, job.size, "the launcher contradicts itself",
                              "its list of the ranks on this host does not have this rank",
                              "start the program with ZipMPI's mpiexec and report the launcher");
        return false;
    }
    job.local_index = static_cast<int>(place - job.node_ranks.begin());
    return true;
}

} // namespace

std::string_view protocol_name(Protocol p) noexcept {
    switch (p) {
    case Protocol::mpiexec:
        return "zipmpi mpiexec";
    case Protocol::pmix:
        return "PMIx";
    case Protocol::pmi2:
        return "PMI-2";
    case Protocol::pmi1:
        return "PMI-1";
    case Protocol::singleton:
        return "singleton";
    }
    return "unknown";
}

bool start(const char* const* environ_like, Job& job, Problem& why) {
    const Environment env(environ_like);
    Detection found;
    job = Job();
    if (!detect(env, found, why)) return false;
    job.how = found.how;
    switch (found.protocol) {
    case Protocol::mpiexec:
        job.protocol = found.protocol;
        return MpiexecLauncher::open(found, job, why);
    case Protocol::pmix:
        return start_pmix(env, job, why) && find_own_place(job, why);
    case Protocol::pmi2:
    case Protocol::pmi1:
        return start_pmi(found, job, why) && find_own_place(job, why);
    case Protocol::singleton:
        make_singleton(job);
        return true;
    }
    return false;
}

} // namespace zipmpi::boot
