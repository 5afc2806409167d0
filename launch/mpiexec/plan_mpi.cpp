// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/plan_mpi.hpp"

#include "launch/noded/pmix_service.hpp"
#include "launch/protocol/rank_environment.hpp"

#include "os/module_folder.hpp"

#include <unistd.h>

namespace zipmpi::launch {
namespace {

using Outcome = BindingPlan::Outcome;

std::string value_of(const std::vector<std::string>& env, const std::string& name) {
    for (auto entry = env.rbegin(); entry != env.rend(); ++entry)
        if (entry->starts_with(name + "=")) return entry->substr(name.size() + 1);
    return {};
}

void set_if_changed(const char* name, const std::string& before, const std::string& after, AppContext& app) {
    if (before != after) app.env.push_back(std::string(name) + "=" + after);
}

// Open MPI gets its ranks from PMIx; the other families also use PMI-1.
bool may_need_pmix(const BindingPlan& plan) {
    return plan.outcome == Outcome::possible ||
           (plan.outcome == Outcome::own && !plan.libraries.has(MpiAbi::mpich));
}

// The interposition library for the ABI of the program, or empty if it runs on another MPI.
std::string interposer_file(const BindingPlan& plan) {
    if (plan.outcome == Outcome::own) return {};
    return os::module_path(plan.libraries.has(MpiAbi::openmpi) ? "zipmpi_trace_openmpi.so"
                           : plan.libraries.has(MpiAbi::mpich) ? "zipmpi_trace_mpich.so"
                                                               : "zipmpi_trace_standard.so");
}

// Lets the ranks load the interposition library and tells it what to record.
void plan_recording(const ObservationOptions& wanted, const std::string& program, BindingPlan& plan,
                    AppContext& app) {
    if (!wanted.profile && wanted.trace_folder.empty()) return;
    const std::string file = interposer_file(plan);
    if (file.empty() || access(file.c_str(), R_OK) != 0) {
        plan.warnings.push_back(
            {"the calls of this program are not recorded", program,
             file.empty() ? "it does not run on ZipMPI" : "this installation has no " + file,
             "remove --profile and --trace, or let the program use ZipMPI"});
        return;
    }
    std::string& preload = plan.variables.preload;
    preload = preload.empty() ? file : file + ":" + preload;
    if (wanted.profile) app.env.emplace_back("ZIPMPI_PROFILE=yes");
    if (!wanted.trace_folder.empty()) app.env.push_back("ZIPMPI_TRACE_DIR=" + wanted.trace_folder);
    if (wanted.limit_mib != 0) app.env.push_back("ZIPMPI_TRACE_LIMIT=" + std::to_string(wanted.limit_mib));
}

bool has_pmix(Pmix wanted) { return wanted != Pmix::no && !pmix_module_file().empty(); }

} // namespace

bool plan_mpi(const Options& options, const std::vector<std::string>& programs, StartRequest& request,
              Remarks& remarks, Diagnostic& why, int& exit_code) {
    const BindingFolders bindings = installed_bindings();
    for (size_t i = 0; i < programs.size(); ++i) {
        AppContext& app = request.apps[i];
        const std::vector<std::string> env = merge_env(request.base_env, app.env);
        const LoaderVariables now{value_of(env, "LD_LIBRARY_PATH"), value_of(env, "LD_PRELOAD"),
                                  value_of(env, "PATH"), value_of(env, "R_LD_LIBRARY_PATH")};
        BindingPlan plan = plan_binding(programs[i], options.other_mpis.library, bindings, now);
        if (!plan.refusal.what.empty()) {
            why = std::move(plan.refusal);
            exit_code = plan.refusal_code;
            return false;
        }
        plan_recording(options.observation, programs[i], plan, app);
        set_if_changed("LD_LIBRARY_PATH", now.library_path, plan.variables.library_path, app);
        set_if_changed("R_LD_LIBRARY_PATH", now.r_library_path, plan.variables.r_library_path, app);
        set_if_changed("LD_PRELOAD", now.preload, plan.variables.preload, app);
        if (options.other_mpis.pmix == Pmix::automatic && may_need_pmix(plan)) request.pmix = true;
        if (plan.outcome == Outcome::own && plan.libraries.has(MpiAbi::openmpi) &&
            !has_pmix(options.other_mpis.pmix))
            plan.warnings.push_back({"the ranks of this program cannot find each other", programs[i],
                                     "Open MPI needs PMIx, which this mpiexec does not provide",
                                     "remove --mpi own or --pmix no, or install ZipMPI with PMIx"});
        if (!plan.note.empty()) remarks.notes.push_back(std::move(plan.note));
        for (Diagnostic& w : plan.warnings) remarks.warnings.push_back(std::move(w));
    }
    return true;
}

} // namespace zipmpi::launch
