// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/affinity.hpp"
#include "launch/noded/daemon.hpp"
#include "launch/noded/descriptors.hpp"
#include "launch/noded/process_spawn.hpp"
#include "launch/protocol/rank_environment.hpp"

#include "base/param.hpp"
#include "os/arguments.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace zipmpi::launch {
namespace {

constexpr int exit_not_found = 127; // as in shells
constexpr int exit_not_executable = 126;

} // namespace

void Daemon::start(const std::string& payload) {
    Diagnostic why;
    if (phase_ != Phase::waiting_for_start || !decode(payload, request_)) {
        why = {"the node daemon could not read its start request", "host " + host_, "its format is not valid",
               "use mpiexec and its daemon from one installation of ZipMPI"};
        return start_failed(0, why, 1);
    }
    phase_ = Phase::running;
    if (!start_subtree(payload, why) || !prepare(why)) return start_failed(0, why, 1);
    placement_.begin(request_, range_.node);
    if (request_.pmix && !ranks_.empty()) start_pmix();
    if (!place_ranks(why)) return start_failed(0, why, 1);
    ignored_signals_ = ignored_signals(); // after libpmix has changed them
    start_gateways();
    for (uint32_t i = 0; i < ranks_.size() && phase_ == Phase::running; ++i)
        if (!start_rank(i, placement_.rank_cpus()[i].cpus, why))
            start_failed(i, why, errno == ENOENT ? exit_not_found : exit_not_executable);
    start_rebinder();
}

void Daemon::start_failed(uint32_t local, const Diagnostic& why, int exit_code) {
    if (phase_ == Phase::waiting_for_start) phase_ = Phase::running;
    fail(local, static_cast<uint32_t>(exit_code), format(why, "mpiexec"));
}

bool Daemon::prepare(Diagnostic& why) {
    const std::vector<uint32_t> local_ranks = request_.map.ranks_of(range_.node);
    open_files_ = raise_open_files();

    std::vector<std::string> settings = request_.base_env;
    settings.insert(settings.end(), request_.apps[0].env.begin(), request_.apps[0].env.end());
    auto list = os::pointers_to(settings);
    for (const char* name :
         {"ZIPMPI_NODE_FD", "ZIPMPI_LOCAL_INDEX", "ZIPMPI_JOB_ID", "ZIPMPI_NODE_INDEX", "ZIPMPI_NODES",
          "ZIPMPI_CLUSTERS", "ZIPMPI_APP_NUMBER", "ZIPMPI_PARENT_PORT", "ZIPMPI_SPAWN_AGENT"})
        declare_internal_variable(name);
    load_params(list.data()); // the library reports invalid parameters
    std::vector<int> world(local_ranks.begin(), local_ranks.end());
    if (world.empty()) world.push_back(0); // gateways only: they read the key of the job from the segment
    dense_map_ = request_.map.dense();
    const segment::NodeTable nodes = node_table();
    if (!segment::NodeSegment::make(request_.job_id, world, static_cast<int>(request_.world_size), segment_,
                                    why, &nodes))
        return false;

    if (request_.keep_going) segment_.set_fault_tolerant();
    ranks_.resize(local_ranks.size());
    for (const AppContext& app : request_.apps) app_env_.push_back(merge_env(request_.base_env, app.env));
    find_gateways();
    PmiServer::PmiJob job{request_.job_id,
                          request_.world_size,
                          static_cast<uint32_t>(request_.gateway_nodes.size()),
                          request_.world_size,
                          {},
                          local_ranks,
                          dense_map_.pmi_text()};
    for (uint32_t local = 0; local < ranks_.size(); ++local) {
        ranks_[local].world_rank = local_ranks[local];
        ranks_[local].app = request_.app_of(local_ranks[local]);
        job.app_numbers.push_back(ranks_[local].app);
        if (!prepare_streams(local, why)) return false;
    }
    if (!check_descriptor_limit(descriptors_needed(), ranks_.size(), host_, why)) return false;
    for (const GatewayProcess& g : gateways_) {
        job.app_numbers.push_back(0);
        job.world_ranks.push_back(request_.world_size + g.number);
    }
    pmi_ = std::make_unique<PmiServer>(
        std::move(job), [this](uint32_t r, std::string_view b) { send_pmi(r, b); },
        [this](uint32_t r, int code, std::string_view text) { on_abort(r, code, text); },
        make_remote_nodes());
    pmi_->set_notify_handler([this](uint32_t r, const PmiMessage& m) { on_notify(r, m); });
    return true;
}

// For pipes and sockets of ranks and gateways; output files are already open.
uint64_t Daemon::descriptors_needed() const {
    const uint64_t each = output_pipes() + 1;
    const auto readers = static_cast<uint64_t>(std::count_if(
        ranks_.begin(), ranks_.end(), [this](const RankProcess& r) { return reads_stdin(r.world_rank); }));
    return (ranks_.size() + gateways_.size()) * each + readers;
}

std::vector<std::string> Daemon::rank_env(uint32_t local) {
    const uint32_t rank = ranks_[local].world_rank;
    std::vector<std::string> own = {
        "PMI_FD=",
        "PMI_RANK=" + std::to_string(rank),
        "PMI_SIZE=" + std::to_string(request_.world_size),
        "PMI_SPAWNED=0",
        "PMI_JOBID=" + request_.job_id,
        "ZIPMPI_NODE_FD=" + std::to_string(segment_.fd()),
        "ZIPMPI_LOCAL_INDEX=" + std::to_string(local),
        "ZIPMPI_JOB_ID=" + request_.job_id,
        "ZIPMPI_APP_NUMBER=" + std::to_string(ranks_[local].app),
        "MPI_LOCALRANKID=" + std::to_string(local),
        "MPI_LOCALNRANKS=" + std::to_string(ranks_.size()),
        "OMPI_COMM_WORLD_RANK=" + std::to_string(rank), // scripts use these to choose files or GPUs
        "OMPI_COMM_WORLD_SIZE=" + std::to_string(request_.world_size),
        "OMPI_COMM_WORLD_LOCAL_RANK=" + std::to_string(local),
        "OMPI_COMM_WORLD_LOCAL_SIZE=" + std::to_string(ranks_.size()),
        "OMPI_COMM_WORLD_NODE_RANK=" + std::to_string(local),
    };
    if (!is_single_node()) {
        const segment::NodeTable nodes = node_table();
        own.push_back("ZIPMPI_NODE_INDEX=" + std::to_string(nodes.own));
        own.push_back("ZIPMPI_NODES=" + std::to_string(nodes.count));
    }
    if (!request_.cluster_map.empty()) own.push_back("ZIPMPI_CLUSTERS=" + request_.cluster_map);
    const auto add = [](void* arg, const char* text) {
        static_cast<std::vector<std::string>*>(arg)->emplace_back(text);
    };
    if (pmix_ != nullptr && pmix_->rank_env(rank, add, &own)) {
        // Open MPI 4 ignores an unknown launcher and leaves files behind unless configured otherwise.
        own.emplace_back("OMPI_MCA_schizo=^orte");
        own.push_back("OMPI_MCA_orte_tmpdir_base=" + file_scratch_);
        if (!memory_scratch_.empty())
            own.push_back("OMPI_MCA_btl_vader_backing_directory=" + memory_scratch_);
    }
    return own;
}

bool Daemon::start_rank(uint32_t local, const CpuList& cpus, Diagnostic& why) {
    RankProcess& r = ranks_[local];
    AppContext& app = request_.apps[r.app];
    const auto refuse = [&](const char* step) {
        const int error = errno;
        const bool in_directory = std::strcmp(step, enter_directory) == 0;
        why = {"rank " + std::to_string(r.world_rank) + " could not be started",
               "host " + host_ + (in_directory ? ", directory " + app.directory : ", program " + app.path),
               std::string("mpiexec could not ") + step + ": " + std::strerror(error),
               in_directory ? "check --wdir; the directory must exist on all hosts of the job"
               : error == ENOENT
                   ? "check the program's name, and for a script the interpreter in its first line"
               : error == EACCES
                   ? "make the file executable (chmod +x), and check the permissions of its directories"
               : error == EMFILE || error == EAGAIN
                   ? "raise the limits of processes and open files (ulimit -u, -n)"
                   : "check that the file is a program for this machine"};
        errno = error;
        return false;
    };
    os::Fd ends[2];
    int p[2];
    const uint32_t pipes = output_pipes();
    for (uint32_t s = 0; s < pipes; ++s) {
        if (pipe2(p, O_CLOEXEC) != 0) return refuse("create a pipe for its output");
        r.pipe[s].reset(p[0]);
        ends[s].reset(p[1]);
        fcntl(p[0], F_SETFL, O_NONBLOCK);
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, p) != 0) return refuse("create its socket");
    r.pmi.reset(p[0]);
    const os::Fd pmi_end(p[1]);
    fcntl(p[0], F_SETFL, O_NONBLOCK);
    os::Fd in;
    if (reads_stdin(r.world_rank)) {
        if (pipe2(p, O_CLOEXEC) != 0) return refuse("create a pipe for its input");
        in.reset(p[0]);
        fcntl(p[1], F_SETFL, O_NONBLOCK);
        watch(epoll_.get(), p[1], 0, Source::rank_stdin, input_.add_reader(os::Fd(p[1])));
    } else if (in.reset(open("/dev/null", O_RDONLY | O_CLOEXEC)); !in) {
        return refuse("open /dev/null for its input");
    }

    std::vector<std::string> own = rank_env(local);
    own[0] += std::to_string(pmi_end.get());
    std::vector<char*> envp = os::pointers_to(app_env_[r.app]);
    envp.pop_back();
    for (auto& e : own) envp.push_back(e.data());
    envp.push_back(nullptr);
    std::vector<char*> argv = os::pointers_to(app.argv);
    CpuSet allowed(cpus);

    SpawnArgs plan;
    plan.path = app.path.c_str();
    plan.argv = argv.data();
    plan.envp = envp.data();
    plan.directory = app.directory.empty() ? nullptr : app.directory.c_str();
    plan.stdio[0] = in.get();
    plan.stdio[1] = ends[0].get();
    plan.stdio[2] = ends[pipes - 1].get();
    plan.inherit[0] = pmi_end.get();
    plan.inherit[1] = segment_.fd();
    plan.cpus = cpus.empty() ? nullptr : allowed.get();
    plan.cpu_bytes = allowed.bytes();
    plan.open_files = open_files_;
    plan.ignored = ignored_signals_;
    const char* step = "start it";
    r.pid = spawn(plan, step);
    if (r.pid < 0) return refuse(step);
    r.live = true;
    ++live_ranks_;
    by_pid_[r.pid] = local;
    watch(output_epoll_.get(), r.pipe[0].get(), EPOLLIN, Source::out, local);
    if (r.pipe[1]) watch(output_epoll_.get(), r.pipe[1].get(), EPOLLIN, Source::err, local);
    watch(epoll_.get(), r.pmi.get(), EPOLLIN, Source::pmi, local);
    open_pipes_ += pipes;
    return true;
}

} // namespace zipmpi::launch
