// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/detect.hpp"

#include "base/param.hpp"
#include "boot/local_diagnostic.hpp"

namespace zipmpi::boot {
namespace {

// Set by ZipMPI's mpiexec for its ranks; not parameters.
[[maybe_unused]] const bool declared = [] {
    for (const char* name :
         {"ZIPMPI_NODE_FD", "ZIPMPI_LOCAL_INDEX", "ZIPMPI_JOB_ID", "ZIPMPI_NODE_INDEX", "ZIPMPI_NODES",
          "ZIPMPI_CLUSTERS", "ZIPMPI_GATEWAY", "ZIPMPI_APP_NUMBER", "ZIPMPI_PARENT_PORT",
          "ZIPMPI_SPAWN_AGENT", "ZIPMPI_HOLD_FD", "ZIPMPI_PROFILE", "ZIPMPI_TRACE_DIR", "ZIPMPI_TRACE_LIMIT"})
        declare_internal_variable(name);
    return true;
}();

const char* const unsupported_launcher =
    "a launcher started this process, but the MPI library cannot connect to it; "
    "this process stops instead of running as rank 0 of 1";

// Launchers that set a size in the environment but offer no supported connection.
struct UnreachableLauncher {
    const char* launcher;
    const char* size;   // variable with the number of processes
    const char* marker; // variable that must also be set, or null
    const char* fix;
};
constexpr UnreachableLauncher unreachable_launchers[] = {
    {"ZipMPI's mpiexec", "OMPI_COMM_WORLD_SIZE",
     "ZIPMPI_JOB_ID", // it also sets variables that scripts for other launchers expect
     "pass PMI_FD, PMI_RANK, PMI_SIZE and ZIPMPI_* on to the program, or start it inside the job with "
     "a separate mpiexec: mpiexec -n 1"},
    {"a launcher of the MPICH family", "PMI_SIZE", "PMI_RANK",
     "start the program with ZipMPI's mpiexec, or with mpiexec.hydra without -pmi-port; if the launcher "
     "closes descriptors above 2, configure it to keep the one named by PMI_FD"},
    {"Open MPI's mpirun", "OMPI_COMM_WORLD_SIZE", nullptr,
     "start the program with ZipMPI's mpiexec or with an mpirun of Open MPI 4 or newer, and keep the PMIX_* "
     "variables (env -i, sudo and container options remove them)"},
    {"the Cray launcher PALS", "PALS_LOCAL_SIZE", "PALS_RANKID",
     "start the program with aprun or mpiexec --pmi=pmix, or inside the allocation with ZipMPI's mpiexec"},
    {"a launcher of the MPICH family", "MPI_LOCALNRANKS", nullptr,
     "start the program with ZipMPI's mpiexec, or pass the PMI_* variables on to the program"},
    {"IBM's jsrun", "JSM_NAMESPACE_SIZE", nullptr,
     "start the program with ZipMPI's mpiexec, or pass the PMIX_* variables on to the program"},
    {"flux run", "FLUX_JOB_SIZE", "FLUX_TASK_RANK",
     "start the program with flux run -o pmi=simple, or with ZipMPI's mpiexec"},
};

std::string describe_reported_size(const char* launcher, const Environment& env, const char* variable) {
    return std::string(launcher) + " reports that it started " + std::string(env.get(variable)) +
           " processes (" + env.describe(variable) + "), but this process has no connection to it: ";
}

bool from_mpiexec(const Environment& env, Detection& found) {
    if (!env.has_all({"ZIPMPI_NODE_FD", "ZIPMPI_LOCAL_INDEX", "ZIPMPI_JOB_ID", "PMI_FD"})) return false;
    const auto rank = env.number("PMI_RANK");
    const auto size = env.number("PMI_SIZE");
    const auto pmi_fd = env.number("PMI_FD");
    const auto node_fd = env.number("ZIPMPI_NODE_FD");
    const auto index = env.number("ZIPMPI_LOCAL_INDEX");
    if (!rank || !size || !pmi_fd || !node_fd || !index || *rank >= *size) return false;
    found = {Protocol::mpiexec,
             env.describe("ZIPMPI_NODE_FD") + " and " + env.describe("PMI_FD"),
             *rank,
             *size,
             *pmi_fd,
             *node_fd,
             *index,
             env.number("ZIPMPI_APP_NUMBER").value_or(0),
             std::string(env.get("ZIPMPI_JOB_ID"))};
    return true;
}

bool from_pmi_descriptor(const Environment& env, Detection& found, Diagnostic& why) {
    const auto fd = env.number("PMI_FD");
    const auto rank = env.number("PMI_RANK");
    const auto size = env.number("PMI_SIZE");
    if (!fd || !rank || !size || *rank >= *size) {
        why = local_diagnostic(unsupported_launcher,
                               "the environment has " + env.describe("PMI_FD") + " " +
                                   env.describe("PMI_RANK") + " " + env.describe("PMI_SIZE") +
                                   "; a PMI launcher sets a descriptor and a rank below the size",
                               "start the program with a launcher, or, to run it as a single process, with "
                               "env -u PMI_FD -u PMI_RANK -u PMI_SIZE");
        return false;
    }
    const bool slurm = env.has("PMI_JOBID") || env.has("SLURM_JOB_ID") || env.has("SLURM_STEP_ID");
    found = {};
    found.protocol = slurm ? Protocol::pmi2 : Protocol::pmi1;
    found.how = env.describe("PMI_FD") + (slurm ? " and variables of Slurm" : "");
    found.rank = *rank;
    found.size = *size;
    found.pmi_fd = *fd;
    found.job_id = std::string(env.get("PMI_JOBID"));
    return true;
}

// True for a task of a step with several tasks. Processes of a batch script, of a salloc shell and of a
// one-task step are valid singletons.
bool slurm_task_without_pmi(const Environment& env, Diagnostic& why) {
    if (!env.has_all({"SLURM_PROCID", "SLURM_STEP_ID"})) return false;
    constexpr long long first_special_step = 0xfffffff0; // batch, interactive, extern: above every real step
    const std::string step(env.get("SLURM_STEP_ID"));
    if (std::strtoll(step.c_str(), nullptr, 10) >= first_special_step) return false;
    const char* variable = env.has("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS";
    if (env.number(variable).value_or(1) <= 1) return false;
    why = local_diagnostic(
        unsupported_launcher,
        describe_reported_size("srun", env, variable) +
            "srun offers neither PMIx nor PMI-2 in this step (--mpi=none, or MpiDefault=none)",
        "use srun --mpi=pmix or srun --mpi=pmi2 (`srun --mpi=list` shows what this Slurm has); "
        "to run independent copies, unset SLURM_PROCID");
    return true;
}

bool detect_unreachable_launcher(const Environment& env, Diagnostic& why) {
    if (env.has("PMI_PORT")) {
        why = local_diagnostic(
            unsupported_launcher,
            "the launcher waits for a TCP connection (" + env.describe("PMI_PORT") +
                "); this library supports PMI only on an inherited descriptor (PMI_FD is not set)",
            "start the program with mpiexec.hydra without -pmi-port, or with ZipMPI's mpiexec");
        return true;
    }
    for (const UnreachableLauncher& s : unreachable_launchers) {
        if (env.number(s.size).value_or(1) <= 1 || (s.marker != nullptr && !env.has(s.marker))) continue;
        why = local_diagnostic(unsupported_launcher,
                               describe_reported_size(s.launcher, env, s.size) +
                                   "its environment has neither PMIX_NAMESPACE and PMIX_RANK nor PMI_FD",
                               s.fix);
        return true;
    }
    return slurm_task_without_pmi(env, why);
}

} // namespace

bool detect(const Environment& env, Detection& found, Diagnostic& why) {
    if (from_mpiexec(env, found)) return true;
    if (env.has_all({"PMIX_NAMESPACE", "PMIX_RANK"})) {
        found = {};
        found.protocol = Protocol::pmix;
        found.how = env.describe("PMIX_NAMESPACE") + " and " + env.describe("PMIX_RANK");
        return true;
    }
    if (env.has("PMI_FD")) return from_pmi_descriptor(env, found, why);
    if (detect_unreachable_launcher(env, why)) return false;
    found = {};
    found.how = env.has("SLURM_JOB_ID") ? "inside Slurm job " + std::string(env.get("SLURM_JOB_ID")) +
                                              ", but not one of several tasks of a step"
                                        : "no sign of a launcher in the environment";
    return true;
}

} // namespace zipmpi::boot
