// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Gateways on this host: started before the ranks, watched, and restarted when they die. They run until
// mpiexec reports that every rank of the job has ended.
#include "launch/noded/daemon.hpp"
#include "launch/noded/process_spawn.hpp"
#include "launch/report/exit_report.hpp"

#include "bridge/cluster_map.hpp"
#include "bridge/settings.hpp"
#include "os/clock.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

constexpr uint64_t ms = 1'000'000;
constexpr uint64_t first_pause = 200 * ms; // between restarts; doubled after each failure, up to
constexpr uint64_t longest_pause = 2000 * ms;
constexpr uint32_t max_failures = 5;

// Next to this program: mpiexec and its daemons come from one installation.
std::string gateway_path() {
    if (std::string other = bridge::gateway_program(); !other.empty()) return other;
    char self[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    const std::string path(self, n > 0 ? static_cast<size_t>(n) : 0);
    return path.substr(0, path.rfind('/') + 1) + "zipmpi-gateway";
}

constexpr uint64_t time_to_report = 1'000'000'000; // ns; for the traffic statistics of a gateway

} // namespace

void Daemon::find_gateways() {
    for (uint32_t g = 0; g < request_.gateway_nodes.size(); ++g) {
        if (request_.gateway_nodes[g] != range_.node) continue;
        GatewayProcess& gateway = gateways_.emplace_back();
        gateway.number = g;
    }
}

// True until the gateways have been asked to exit and have exited; kill_at_ limits the wait.
bool Daemon::are_gateways_needed() const {
    if (gateways_.empty() || parent_disconnected_) return false;
    return !gateways_ending_ || std::ranges::any_of(gateways_, &GatewayProcess::live);
}

void Daemon::end_gateways() {
    gateways_ending_ = true;
    for (const GatewayProcess& g : gateways_)
        if (g.live) kill(g.pid, SIGTERM);
    if (!gateways_.empty() && phase_ == Phase::running) kill_at_ = os::now_ns() + time_to_report;
}

// At job start a gateway finds the devices of its clusters together with the ranks. A restarted gateway gets
// the result of its first start, which it has put as devices.<cluster>.
std::string Daemon::cluster_map_with_devices(const GatewayProcess& g) const {
    bridge::ClusterMap cluster_map;
    if (g.starts < 2 || !bridge::parse(request_.cluster_map, cluster_map)) return request_.cluster_map;
    for (bridge::Attachment& a : cluster_map.gateways[g.number].attached) {
        const std::string* found =
            pmi_->find_put(request_.world_size + g.number, "devices." + std::to_string(a.cluster));
        if (a.devices.empty() && found != nullptr) a.devices = *found;
    }
    return bridge::print(cluster_map);
}

std::vector<std::string> Daemon::gateway_env(const GatewayProcess& g, int pmi_end) {
    std::vector<std::string> env = app_env_[0];
    env.push_back("PMI_FD=" + std::to_string(pmi_end));
    env.push_back("PMI_RANK=" + std::to_string(request_.world_size + g.number));
    env.push_back("PMI_SIZE=" + std::to_string(request_.world_size));
    env.push_back("PMI_JOBID=" + request_.job_id);
    env.push_back("ZIPMPI_NODE_FD=" + std::to_string(segment_.fd()));
    env.push_back("ZIPMPI_JOB_ID=" + request_.job_id);
    env.push_back("ZIPMPI_CLUSTERS=" + cluster_map_with_devices(g));
    env.push_back("ZIPMPI_GATEWAY=" + std::to_string(g.number));
    env.push_back("ZIPMPI_GATEWAY_EPOCH=" + std::to_string(g.starts));
    return env;
}

bool Daemon::start_gateway(GatewayProcess& g, const char*& step) {
    const auto index = static_cast<uint32_t>(ranks_.size() + static_cast<size_t>(&g - gateways_.data()));
    int p[2];
    step = "create a pipe for its messages";
    if (pipe2(p, O_CLOEXEC) != 0) return false;
    os::Fd err(p[0]);
    const os::Fd err_end(p[1]);
    fcntl(p[0], F_SETFL, O_NONBLOCK);
    step = "create its socket";
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, p) != 0) return false;
    os::Fd pmi(p[0]);
    const os::Fd pmi_end(p[1]);
    fcntl(p[0], F_SETFL, O_NONBLOCK);
    const os::Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));

    ++g.starts;
    std::vector<std::string> env = gateway_env(g, pmi_end.get());
    std::vector<char*> envp;
    envp.reserve(env.size() + 1);
    for (std::string& e : env) envp.push_back(e.data());
    envp.push_back(nullptr);
    std::string path = gateway_path();
    std::string name = "zipmpi-gateway";
    char* argv[] = {name.data(), nullptr};
    SpawnArgs plan;
    plan.path = path.c_str();
    plan.argv = argv;
    plan.envp = envp.data();
    plan.stdio[0] = plan.stdio[1] = null.get();
    plan.stdio[2] = err_end.get();
    plan.inherit[0] = pmi_end.get();
    plan.inherit[1] = segment_.fd();
    plan.open_files = open_files_;
    plan.ignored = ignored_signals_;
    g.pid = spawn(plan, step);
    if (g.pid < 0) return false;
    if (!g.pipe[1]) ++open_pipes_;
    g.live = true;
    g.started_at = os::now_ns();
    g.restart_at = 0;
    g.pmi = std::move(pmi);
    g.pmi_out.clear();
    g.pipe[1] = std::move(err);
    g.lines[1] = LineSplitter();
    by_pid_[g.pid] = index;
    watch(output_epoll_.get(), g.pipe[1].get(), EPOLLIN, Source::err, index);
    watch(epoll_.get(), g.pmi.get(), EPOLLIN, Source::pmi, index);
    return true;
}

void Daemon::start_gateways() {
    for (GatewayProcess& g : gateways_) {
        const char* step = nullptr;
        if (start_gateway(g, step)) continue;
        return start_failed(
            0,
            {"gateway " + std::to_string(g.number) + " could not be started", "host " + host_,
             std::string("the daemon could not ") + step + ": " + std::strerror(errno),
             "check that ZipMPI is installed completely: zipmpi-gateway must be next to mpiexec"},
            1);
    }
}

void Daemon::report_line(const std::string& line) {
    PayloadWriter w;
    parent_.send(ControlFrameType::output, w.u32(2).u32(no_rank).take() + "mpiexec: " + line + "\n");
}

void Daemon::on_gateway_exit(uint32_t index, int status) {
    GatewayProcess& g = gateways_[index - ranks_.size()];
    g.live = false;
    while (read_output(index, 1)) {
    }
    if (g.pmi) {
        epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, g.pmi.get(), nullptr);
        g.pmi.reset();
    }
    g.failures = pmi_->has_put(index) ? 0 : g.failures + 1;
    pmi_->reset_client(index);
    if (phase_ != Phase::running || gateways_ending_ || interrupted_) return;
    const std::string name = "gateway " + std::to_string(g.number) + " on host " + host_;
    if (g.failures >= max_failures) {
        PayloadWriter w;
        const std::string text = name + ": " + exit_text(status) + " repeatedly; it is not restarted";
        parent_.send(ControlFrameType::gateway_failed, w.u32(g.number).text(text).take());
        return;
    }
    report_line(name + ": " + exit_text(status) + "; it is restarted");
    g.restart_at = std::max(os::now_ns(), g.started_at + std::min(first_pause << g.failures, longest_pause));
}

// Reports that it works again. Only after a failure: a job without failures prints nothing.
void Daemon::report_gateway_restart(uint32_t index) {
    GatewayProcess& g = gateways_[index - ranks_.size()];
    if (g.starts < 2 || g.reported_start == g.starts || !pmi_->has_put(index)) return;
    g.reported_start = g.starts;
    report_line("gateway " + std::to_string(g.number) + " on host " + host_ + " is running again");
}

uint64_t Daemon::next_restart() const {
    uint64_t next = 0;
    for (const GatewayProcess& g : gateways_)
        if (g.restart_at != 0 && (next == 0 || g.restart_at < next)) next = g.restart_at;
    return phase_ == Phase::running ? next : 0;
}

void Daemon::restart_gateways() {
    const uint64_t now = os::now_ns();
    if (phase_ != Phase::running) return;
    for (GatewayProcess& g : gateways_) {
        const char* step = nullptr;
        if (g.restart_at == 0 || now < g.restart_at) continue;
        if (!start_gateway(g, step)) g.restart_at = now + longest_pause; // lack of memory or processes
    }
}

void Daemon::send_ranks_finished() {
    if (ranks_finished_sent_ || !ranks_finished_.has_all_children(subtree_)) return;
    ranks_finished_sent_ = true;
    parent_.send(ControlFrameType::ranks_finished);
}

} // namespace zipmpi::launch
