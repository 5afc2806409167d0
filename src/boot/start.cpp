// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/detect.hpp"
#include "boot/host_groups.hpp"
#include "boot/local_diagnostic.hpp"
#include "boot/native_launcher.hpp"
#include "boot/pmi_client.hpp"
#include "boot/pmix_loader.hpp"
#include "boot/process_mapping.hpp"
#include "boot/singleton.hpp"

#include <algorithm>

namespace zipmpi::boot {
namespace {

bool start_pmi(const Detection& found, Job& job, Diagnostic& why) {
    PmiIdentity me;
    me.rank = found.rank;
    me.size = found.size;
    me.job_id = found.job_id;
    std::string reason;
    job.launcher = open_pmi(found.pmi_fd, found.protocol == Protocol::pmi2, me, reason);
    if (!job.launcher) {
        why =
            rank_diagnostic(found.rank, found.size,
                            "the launcher's variables for PMI are set, but no launcher replies", reason,
                            "if this program was started by another MPI program or in a shell left over "
                            "from a job, run it with env -u PMI_FD -u PMI_RANK -u PMI_SIZE; else start it "
                            "with ZipMPI's mpiexec (a slow launcher: raise ZIPMPI_LAUNCH_HANDSHAKE_TIMEOUT)");
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
    if (!parse_local_ranks(me.mapping, job.rank, job.size, job.node_ranks)) return group_by_host(job, why);
    job.mapping = me.mapping;
    return true;
}

// A launcher inside a job of another launcher: variables of the outer one may hide those of the inner one.
bool has_conflicting_launcher(const Environment& env, const PmixIdentity& me, Diagnostic& why) {
    const auto size = env.number("PMI_SIZE");
    if (!env.has("PMI_FD") || !size || *size == me.size) return false;
    why = local_diagnostic("the environment has variables of two launchers, and they disagree",
                           "the PMIx server of " + env.describe("PMIX_NAMESPACE") + " reports rank " +
                               std::to_string(me.rank) + " of " + std::to_string(me.size) + ", " +
                               env.describe("PMI_FD") + " belongs to rank " +
                               std::string(env.get("PMI_RANK")) + " of " + std::to_string(*size),
                           "remove the variables of the outer launcher before starting the inner one: "
                           "env -u PMIX_NAMESPACE mpiexec ..., or env -u PMI_FD mpirun ...");
    return true;
}

bool start_pmix(const Environment& env, Job& job, Diagnostic& why) {
    PmixIdentity me;
    job.launcher = open_pmix(me, why);
    if (!job.launcher) return false;
    if (has_conflicting_launcher(env, me, why)) {
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

bool find_local_index(Job& job, Diagnostic& why) {
    const auto entry = std::find(job.node_ranks.begin(), job.node_ranks.end(), job.rank);
    if (entry == job.node_ranks.end()) {
        why =
            rank_diagnostic(job.rank, job.size, "the data of the launcher is inconsistent",
                            "its list of the ranks on this host does not contain this rank",
                            "start the program with ZipMPI's mpiexec, and report this error of the launcher");
        return false;
    }
    job.local_index = static_cast<int>(entry - job.node_ranks.begin());
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

bool start(const char* const* environ_like, Job& job, Diagnostic& why) {
    const Environment env(environ_like);
    Detection found;
    job = Job();
    if (!detect(env, found, why)) return false;
    job.how = found.how;
    switch (found.protocol) {
    case Protocol::mpiexec:
        job.protocol = found.protocol;
        return NativeLauncher::open(found, job, why);
    case Protocol::pmix:
        return start_pmix(env, job, why) && find_local_index(job, why);
    case Protocol::pmi2:
    case Protocol::pmi1:
        return start_pmi(found, job, why) && find_local_index(job, why);
    case Protocol::singleton:
        make_singleton(job);
        return true;
    }
    return false;
}

} // namespace zipmpi::boot
