// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Starts the job on this node: child daemons, node segment, services, gateways and ranks.
#include "launch/noded/daemon.hpp"
#include "launch/noded/descriptors.hpp"
#include "launch/noded/huge_pages.hpp"
#include "launch/noded/process_spawn.hpp"
#include "launch/noded/rank_launcher.hpp"
#include "launch/protocol/rank_environment.hpp"

#include "base/param.hpp"
#include "boot/timeouts.hpp"
#include "os/arguments.hpp"

#include <algorithm>
#include <cerrno>

namespace zipmpi::launch {
namespace {

constexpr int exit_not_found = 127; // as in shells
constexpr int exit_not_executable = 126;

// Parameters that the user has set for the ranks. The library reports invalid ones.
void load_settings(const StartRequest& request) {
    std::vector<std::string> settings = request.base_env;
    settings.insert(settings.end(), request.apps[0].env.begin(), request.apps[0].env.end());
    auto list = os::pointers_to(settings);
    for (const char* name :
         {"ZIPMPI_NODE_FD", "ZIPMPI_LOCAL_INDEX", "ZIPMPI_JOB_ID", "ZIPMPI_NODE_INDEX", "ZIPMPI_NODES",
          "ZIPMPI_CLUSTERS", "ZIPMPI_APP_NUMBER", "ZIPMPI_PARENT_PORT", "ZIPMPI_SPAWN_AGENT"})
        declare_internal_variable(name);
    load_params(list.data());
}

// Programs find the library at the path of mpiexec's installation. If this host has it elsewhere, variables
// name its folders.
std::vector<std::string> environment_of(const NodeJob& job, const AppContext& app) {
    std::vector<std::string> env = merge_env(job.request().base_env, app.env);
    const std::string own = daemon_path();
    if (!job.is_networked() || own == job.request().tree.local_daemon) return env;
    const std::string bin = own.substr(0, own.rfind('/'));
    prepend_to_path(env, "PATH", bin);
    prepend_to_path(env, "LD_LIBRARY_PATH", bin.substr(0, bin.rfind('/')) + "/" ZIPMPI_LIB_DIR);
    return env;
}

} // namespace

void Daemon::start(const std::string& payload) {
    if (lifecycle_.is_waiting_for_start() && job_.read(payload)) return start_job();
    lifecycle_.fail(ranks_.world_rank(0),
                    {"the node daemon could not read its start request", "host " + job_.host(),
                     "its format is not valid", "use mpiexec and its daemon from one installation of ZipMPI"},
                    1);
}

void Daemon::start_job() {
    SpawnDefaults defaults;
    Diagnostic why;
    const auto refuse = [&] { lifecycle_.fail(ranks_.world_rank(0), why, 1); };
    lifecycle_.begin_running();
    load_settings(job_.request());
    if (!relay_.start(why) || !prepare(defaults, why)) return refuse();
    job_.wipe_secret();
    rebinder_.binder().begin();
    if (job_.request().pmix && !ranks_.empty()) pmix_.start();
    if (!rebinder_.binder().place(why)) return refuse();
    defaults.ignored_signals = ignored_signals(); // after libpmix has changed them
    if (!gateways_.start_all(defaults, why)) refuse();
    start_ranks(defaults);
    rebinder_.start();
}

bool Daemon::prepare(SpawnDefaults& defaults, Diagnostic& why) {
    defaults.open_files = raise_open_files();
    defaults.highest_inherited = highest_inherited_descriptor();
    if (!job_.make_segment(why)) return false;
    ranks_.begin(job_);
    for (const AppContext& app : job_.request().apps) defaults.app_env.push_back(environment_of(job_, app));
    if (should_use_huge_pages(boot::huge_page_setting(), read_huge_page_support(), ranks_.size()))
        for (std::vector<std::string>& environment : defaults.app_env) add_huge_pages(environment);
    gateways_.begin();
    if (!outputs_.begin(gateways_.size(), why)) return false;
    if (!suffices_for(descriptors_needed())) outputs_.hold_pipes_apart();
    if (!check_descriptor_limit(descriptors_needed(), ranks_.size(), job_.host(), why)) return false;
    pmi_.begin(ranks_, gateways_.numbers());
    return true;
}

// For pipes and sockets of ranks and gateways; output files are already open. The limit applies to each of
// two tables if the pipes are held apart.
uint64_t Daemon::descriptors_needed() const {
    const uint64_t clients = uint64_t{ranks_.size()} + gateways_.size();
    const uint64_t pipes = clients * outputs_.pipes_per_rank();
    const auto readers =
        static_cast<uint64_t>(std::count_if(ranks_.begin(), ranks_.end(), [this](const RankProcess& r) {
            return input_.reads_stdin(r.world_rank);
        }));
    return outputs_.holds_pipes_apart() ? std::max(clients + readers, pipes) : clients + readers + pipes;
}

void Daemon::start_ranks(SpawnDefaults& defaults) {
    RankLauncher launcher(job_, ranks_, {pmi_, pmix_, outputs_, input_}, defaults);
    Diagnostic why;
    for (uint32_t i = 0; i < ranks_.size() && lifecycle_.is_running(); ++i)
        if (!launcher.start(i, rebinder_.binder().cpus_of(i), why))
            lifecycle_.fail(ranks_[i].world_rank, why,
                            errno == ENOENT ? exit_not_found : exit_not_executable);
    if (ranks_.empty() || !lifecycle_.is_running()) return;
    std::vector<uint32_t> pids;
    for (const RankProcess& rank : ranks_) pids.push_back(static_cast<uint32_t>(rank.pid));
    PayloadWriter w;
    parent_.send(ControlFrameType::rank_pids,
                 w.u32(job_.node()).text(job_.host_in_job()).numbers(pids).take());
}

} // namespace zipmpi::launch
