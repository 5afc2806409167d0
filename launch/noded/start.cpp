// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/grid/watch.hpp"
#include "launch/link/environment.hpp"
#include "launch/map/by_matrix.hpp"
#include "launch/map/cores.hpp"
#include "launch/map/picture.hpp"
#include "launch/noded/daemon.hpp"
#include "launch/noded/spawn.hpp"

#include "base/param.hpp"
#include "os/arguments.hpp"
#include "os/host.hpp"
#include "topo/module.hpp"
#include "topo/node_places.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace zipmpi::launch {
namespace {

static_assert(static_cast<int>(BindMode::automatic) == static_cast<int>(StartRequest::Bind::automatic) &&
              static_cast<int>(BindMode::core) == static_cast<int>(StartRequest::Bind::core) &&
              static_cast<int>(BindMode::none) == static_cast<int>(StartRequest::Bind::none) &&
              static_cast<int>(BindMode::socket) == static_cast<int>(StartRequest::Bind::socket));

constexpr int exit_not_found = 127; // as shells have it
constexpr int exit_not_executable = 126;

uint32_t threads_per_rank(const StartRequest& request) {
    std::string value;
    for (const auto& e : request.base_env)
        if (e.rfind("OMP_NUM_THREADS=", 0) == 0) value = e.substr(16);
    for (const auto& e : request.apps[0].env)
        if (e.rfind("OMP_NUM_THREADS=", 0) == 0) value = e.substr(16);
    return static_cast<uint32_t>(std::clamp(std::atoi(value.c_str()), 1, 4096));
}

} // namespace

void Daemon::start(const std::string& payload) {
    Problem why;
    if (phase_ != Phase::waiting_for_start || !decode(payload, request_)) {
        why = {"the node daemon could not read its start request", "host " + host_,
               "mpiexec sent something else", "use mpiexec and its daemon from one installation of ZipMPI"};
        return start_failed(0, why, 1);
    }
    phase_ = Phase::running;
    if (!start_others(payload, why) || !prepare(why)) return start_failed(0, why, 1);
    if (request_.pmix && !ranks_.empty()) start_pmix();
    const auto cpus = placement();
    ignored_signals_ = ignored_signals(); // after libpmix has changed them
    start_gateways();
    for (uint32_t i = 0; i < ranks_.size() && phase_ == Phase::running; ++i)
        if (!start_rank(i, cpus, why))
            start_failed(i, why, errno == ENOENT ? exit_not_found : exit_not_executable);
    start_live_map();
}

void Daemon::start_failed(uint32_t local, const Problem& why, int exit_code) {
    if (phase_ == Phase::waiting_for_start) phase_ = Phase::running;
    fail(local, static_cast<uint32_t>(exit_code), format(why, "mpiexec"));
}

bool Daemon::prepare(Problem& why) {
    const std::vector<uint32_t> local_ranks = request_.map.ranks_of(place_.node);
    getrlimit(RLIMIT_NOFILE, &open_files_); // three descriptors per rank: take what the hard limit allows
    rlimit most = open_files_;
    most.rlim_cur = most.rlim_max;
    setrlimit(RLIMIT_NOFILE, &most);

    std::vector<std::string> settings = request_.base_env;
    settings.insert(settings.end(), request_.apps[0].env.begin(), request_.apps[0].env.end());
    auto list = os::pointers_to(settings);
    for (const char* name :
         {"ZIPMPI_NODE_FD", "ZIPMPI_LOCAL_INDEX", "ZIPMPI_JOB_ID", "ZIPMPI_NODE_INDEX", "ZIPMPI_NODES",
          "ZIPMPI_GRID", "ZIPMPI_APP_NUMBER", "ZIPMPI_PARENT_PORT", "ZIPMPI_SPAWN_AGENT"})
        declare_plain_variable(name);
    load_params(list.data()); // faults are reported by the library, which knows all the knobs
    std::vector<int> world(local_ranks.begin(), local_ranks.end());
    if (world.empty()) world.push_back(0); // gateways only: they find the key of the job in the segment
    seen_map_ = request_.map.dense();
    const boot::Nodes nodes = nodes_of_the_job();
    if (!boot::NodeSegment::make(request_.job_id, world, static_cast<int>(request_.world_size), segment_, why,
                                 &nodes))
        return false;

    if (request_.keep_going) segment_.set_keeps_going();
    ranks_.resize(local_ranks.size());
    for (const AppContext& app : request_.apps) app_env_.push_back(merge_env(request_.base_env, app.env));
    find_gateways();
    PmiServer::Job job{request_.job_id,
                       request_.world_size,
                       static_cast<uint32_t>(request_.gateway_nodes.size()),
                       request_.world_size,
                       {},
                       local_ranks,
                       seen_map_.pmi_text()};
    for (uint32_t local = 0; local < ranks_.size(); ++local) {
        ranks_[local].world = local_ranks[local];
        ranks_[local].app = request_.app_of(local_ranks[local]);
        job.app_numbers.push_back(ranks_[local].app);
        if (!request_.label) continue;
        const std::string label = "[" + std::to_string(ranks_[local].world) + "] ";
        ranks_[local].lines = {LineCutter(label), LineCutter(label)};
    }
    for (const Gateway& g : gateways_) {
        job.app_numbers.push_back(0);
        job.world_ranks.push_back(request_.world_size + g.number);
    }
    pmi_ = std::make_unique<PmiServer>(
        std::move(job), [this](uint32_t r, std::string_view b) { send_pmi(r, b); },
        [this](uint32_t r, int code, std::string_view text) { on_abort(r, code, text); }, pmi_others());
    pmi_->on_told([this](uint32_t r, const PmiMessage& m) { on_told(r, m); });
    return true;
}

std::vector<std::vector<int>> Daemon::placement() {
    PlacementRequest p;
    p.ranks = static_cast<uint32_t>(ranks_.size());
    p.cores_per_rank = threads_per_rank(request_);
    p.usable_cores = static_cast<uint32_t>(os::usable_cpus());
    p.mode = static_cast<BindMode>(request_.bind);
    topo::Machine machine;
    if (ranks_.empty() && !request_.show_placement) return {};
    const bool by_talk = !request_.talk.empty() && p.mode != BindMode::none;
    const bool binds = by_talk || wants_binding(p);
    if (!binds && !request_.show_placement) return place(p, {});
    topo::read_machine(machine); // without it each CPU counts as a core
    std::vector<CpuList> cores = allowed_cores(machine);
    std::vector<uint16_t> sockets = sockets_of(machine, cores);
    if (request_.sockets_in_turn) take_sockets_in_turn(cores, sockets);
    auto cpus = by_talk ? place_by(graph_of(request_.talk, request_.map.ranks_of(place_.node)), p, machine,
                                   cores, mapping::graph_tools())
                        : place(p, cores);
    if (p.mode == BindMode::socket) widen_to_sockets(cpus, cores, sockets);
    if (request_.show_placement) show_placement(machine, cpus);
    if (!binds) return cpus;
    // Ranks that find their places need not ask for the topology themselves.
    for (uint32_t i = 0; i < cpus.size() && !machine.cpus.empty(); ++i)
        if (!cpus[i].empty()) topo::set_place(segment_, i, topo::place_of(machine, cpus[i]));
    topo::set_caches(segment_, machine);
    return cpus;
}

void Daemon::show_placement(const topo::Machine& machine, const std::vector<std::vector<int>>& cpus) {
    HostPicture p;
    p.name = alone() ? host_ : request_.tree.hosts[place_.node];
    p.node = nodes_of_the_job().own;
    GridWatch grid;
    grid.begin(request_);
    p.clusters = grid.clusters_of(p.node);
    p.cores = allowed_cores(machine);
    p.sockets = sockets_of(machine, p.cores);
    p.placed = cpus;
    for (const Rank& r : ranks_) p.ranks.push_back(r.world);
    Writer w;
    channel_.send(FrameType::picture, w.u32(place_.node).text(ranks_.empty() ? "" : picture(p)).take());
}

std::vector<std::string> Daemon::rank_env(uint32_t local) {
    const uint32_t rank = ranks_[local].world;
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
    };
    if (!alone()) {
        const boot::Nodes nodes = nodes_of_the_job();
        own.push_back("ZIPMPI_NODE_INDEX=" + std::to_string(nodes.own));
        own.push_back("ZIPMPI_NODES=" + std::to_string(nodes.count));
    }
    if (!request_.grid.empty()) own.push_back("ZIPMPI_GRID=" + request_.grid);
    const auto add = [](void* arg, const char* text) {
        static_cast<std::vector<std::string>*>(arg)->emplace_back(text);
    };
    if (pmix_ != nullptr && pmix_->rank_env(rank, add, &own)) {
        // Open MPI 4 takes an unknown launcher for none unless told not to, and litters where it is told to.
        own.emplace_back("OMPI_MCA_schizo=^orte");
        own.push_back("OMPI_MCA_orte_tmpdir_base=" + file_scratch_);
        if (!memory_scratch_.empty())
            own.push_back("OMPI_MCA_btl_vader_backing_directory=" + memory_scratch_);
    }
    return own;
}

bool Daemon::start_rank(uint32_t local, const std::vector<std::vector<int>>& cpus, Problem& why) {
    Rank& r = ranks_[local];
    AppContext& app = request_.apps[r.app];
    const auto refuse = [&](const char* step) {
        const int error = errno;
        why = {
            "rank " + std::to_string(r.world) + " could not be started",
            "host " + host_ + ", program " + app.path,
            std::string("mpiexec could not ") + step + ": " + std::strerror(error),
            error == ENOENT   ? "check the program's name, and for a script the interpreter in its first line"
            : error == EACCES ? "make the file executable (chmod +x), and check the rights of its directories"
            : error == EMFILE || error == EAGAIN
                ? "raise the limits of processes and open files (ulimit -u, -n)"
                : "check that the file is a program for this machine"};
        errno = error;
        return false;
    };
    os::Fd ends[2];
    int p[2];
    for (int s = 0; s < 2; ++s) {
        if (pipe2(p, O_CLOEXEC) != 0) return refuse("make a pipe for its output");
        r.pipe[s].reset(p[0]);
        ends[s].reset(p[1]);
        fcntl(p[0], F_SETFL, O_NONBLOCK);
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, p) != 0) return refuse("make a socket for it");
    r.pmi.reset(p[0]);
    const os::Fd pmi_end(p[1]);
    fcntl(p[0], F_SETFL, O_NONBLOCK);
    os::Fd in;
    if (r.world == 0 && request_.stdin_open) {
        if (pipe2(p, O_CLOEXEC) != 0) return refuse("make a pipe for its input");
        in.reset(p[0]);
        stdin_pipe_.reset(p[1]);
        fcntl(p[1], F_SETFL, O_NONBLOCK);
        watch(epoll_.get(), p[1], 0, Source::rank_stdin);
    } else {
        in.reset(open("/dev/null", O_RDONLY | O_CLOEXEC));
    }

    std::vector<std::string> own = rank_env(local);
    own[0] += std::to_string(pmi_end.get());
    std::vector<char*> envp = os::pointers_to(app_env_[r.app]);
    envp.pop_back();
    for (auto& e : own) envp.push_back(e.data());
    envp.push_back(nullptr);
    std::vector<char*> argv = os::pointers_to(app.argv);
    constexpr int most_cpus = 1 << 14;
    std::vector<std::byte> cpu_room(CPU_ALLOC_SIZE(most_cpus));
    auto* set = reinterpret_cast<cpu_set_t*>(cpu_room.data());
    for (const int cpu : cpus[local]) CPU_SET_S(static_cast<size_t>(cpu), cpu_room.size(), set);

    SpawnPlan plan;
    plan.path = app.path.c_str();
    plan.argv = argv.data();
    plan.envp = envp.data();
    plan.stdio[0] = in.get();
    plan.stdio[1] = ends[0].get();
    plan.stdio[2] = ends[1].get();
    plan.inherit[0] = pmi_end.get();
    plan.inherit[1] = segment_.fd();
    plan.cpus = cpus[local].empty() ? nullptr : set;
    plan.cpu_bytes = cpu_room.size();
    plan.open_files = open_files_;
    plan.ignored = ignored_signals_;
    const char* step = "start it";
    r.pid = spawn(plan, step);
    if (r.pid < 0) return refuse(step);
    r.live = true;
    ++live_;
    by_pid_[r.pid] = local;
    watch(output_epoll_.get(), r.pipe[0].get(), EPOLLIN, Source::out, local);
    watch(output_epoll_.get(), r.pipe[1].get(), EPOLLIN, Source::err, local);
    watch(epoll_.get(), r.pmi.get(), EPOLLIN, Source::pmi, local);
    open_pipes_ += 2;
    return true;
}

} // namespace zipmpi::launch
