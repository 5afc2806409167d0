// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/gateway_supervisor.hpp"

#include "launch/noded/process_spawn.hpp"
#include "launch/report/exit_report.hpp"

#include "bridge/cluster_map.hpp"
#include "bridge/settings.hpp"
#include "os/arguments.hpp"
#include "os/clock.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

constexpr uint64_t ms = 1'000'000;
constexpr uint64_t first_pause = 200 * ms; // between restarts; doubled after each failure, up to
constexpr uint64_t longest_pause = 2000 * ms;
constexpr uint32_t max_failures = 5;
constexpr uint64_t time_to_report = 1'000'000'000; // ns; for the traffic statistics of a gateway

// Next to this program: mpiexec and its daemons come from one installation.
std::string gateway_path() {
    if (std::string other = bridge::gateway_program(); !other.empty()) return other;
    char self[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    const std::string path(self, n > 0 ? static_cast<size_t>(n) : 0);
    return path.substr(0, path.rfind('/') + 1) + "zipmpi-gateway";
}

} // namespace

void GatewaySupervisor::begin() {
    const std::vector<uint32_t>& nodes = job_.request().gateway_nodes;
    for (uint32_t g = 0; g < nodes.size(); ++g)
        if (nodes[g] == job_.node()) gateways_.emplace_back().number = g;
}

std::vector<uint32_t> GatewaySupervisor::numbers() const {
    std::vector<uint32_t> all;
    for (const Gateway& g : gateways_) all.push_back(g.number);
    return all;
}

bool GatewaySupervisor::are_needed() const {
    if (gateways_.empty() || parent_.is_disconnected()) return false;
    return !ending_ || std::ranges::any_of(gateways_, &Gateway::live);
}

void GatewaySupervisor::end_all() {
    ending_ = true;
    for (const Gateway& g : gateways_)
        if (g.live) kill(g.pid, SIGTERM);
    if (!gateways_.empty() && lifecycle_.is_running()) lifecycle_.kill_after(time_to_report);
}

// At job start a gateway finds the devices of its clusters together with the ranks. A restarted gateway gets
// the result of its first start, which it has put as devices.<cluster>.
std::string GatewaySupervisor::cluster_map_with_devices(const Gateway& g) {
    const StartRequest& request = job_.request();
    bridge::ClusterMap cluster_map;
    if (g.starts < 2 || !bridge::parse(request.cluster_map, cluster_map)) return request.cluster_map;
    for (bridge::Attachment& a : cluster_map.gateways[g.number].attached) {
        const std::string* found =
            pmi_.server().find_put(request.world_size + g.number, "devices." + std::to_string(a.cluster));
        if (a.devices.empty() && found != nullptr) a.devices = *found;
    }
    return bridge::print(cluster_map);
}

std::vector<std::string> GatewaySupervisor::environment(const Gateway& g, int pmi_end) {
    const StartRequest& request = job_.request();
    std::vector<std::string> env = defaults_.app_env[0];
    env.push_back("PMI_FD=" + std::to_string(pmi_end));
    env.push_back("PMI_RANK=" + std::to_string(request.world_size + g.number));
    env.push_back("PMI_SIZE=" + std::to_string(request.world_size));
    env.push_back("PMI_JOBID=" + request.job_id);
    env.push_back("ZIPMPI_NODE_FD=" + std::to_string(job_.gateway_segment().fd()));
    env.push_back("ZIPMPI_JOB_ID=" + request.job_id);
    env.push_back("ZIPMPI_CLUSTERS=" + cluster_map_with_devices(g));
    env.push_back("ZIPMPI_GATEWAY=" + std::to_string(g.number));
    env.push_back("ZIPMPI_GATEWAY_EPOCH=" + std::to_string(g.starts));
    return env;
}

bool GatewaySupervisor::start(Gateway& g, const char*& step) {
    os::Fd err;
    os::Fd err_end;
    os::Fd pmi;
    os::Fd pmi_end;
    step = "create a pipe for its messages";
    if (!OutputForwarder::make_pipe(err, err_end)) return false;
    step = "create its socket";
    if (!PmiService::make_socket(pmi, pmi_end)) return false;
    const os::Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));

    ++g.starts;
    std::vector<std::string> env = environment(g, pmi_end.get());
    const std::vector<char*> envp = os::pointers_to(env);
    const std::string path = gateway_path();
    std::string name = "zipmpi-gateway";
    char* argv[] = {name.data(), nullptr};
    SpawnArgs plan;
    plan.path = path.c_str();
    plan.argv = argv;
    plan.envp = envp.data();
    plan.stdio[0] = plan.stdio[1] = null.get();
    plan.stdio[2] = err_end.get();
    plan.inherit[0] = pmi_end.get();
    plan.inherit[1] = job_.gateway_segment().fd();
    plan.open_files = defaults_.open_files;
    plan.ignored = defaults_.ignored_signals;
    g.pid = spawn(plan, step);
    if (g.pid < 0) return false;
    g.live = true;
    g.started_at = os::now_ns();
    g.restart_at = 0;
    outputs_.add_gateway_pipe(client_of(g), std::move(err));
    pmi_.connect(client_of(g), std::move(pmi));
    return true;
}

bool GatewaySupervisor::start_all(const SpawnDefaults& defaults, Diagnostic& why) {
    if (!gateways_.empty()) defaults_ = defaults;
    for (Gateway& g : gateways_) {
        const char* step = nullptr;
        if (start(g, step)) continue;
        why = {"gateway " + std::to_string(g.number) + " could not be started", "host " + job_.host(),
               std::string("the daemon could not ") + step + ": " + std::strerror(errno),
               "check that ZipMPI is installed completely: zipmpi-gateway must be next to mpiexec"};
        return false;
    }
    return true;
}

std::optional<uint32_t> GatewaySupervisor::find_pid(pid_t pid) const {
    for (const Gateway& g : gateways_)
        if (g.live && g.pid == pid) return client_of(g);
    return {};
}

void GatewaySupervisor::on_exited(uint32_t client, int status) {
    Gateway& g = gateways_[client - job_.ranks()];
    g.live = false;
    outputs_.read_all(client, OutputStream::err);
    pmi_.disconnect(client);
    g.failures = pmi_.server().has_put(client) ? 0 : g.failures + 1;
    pmi_.server().reset_client(client);
    if (!lifecycle_.is_running() || ending_ || lifecycle_.is_interrupted()) return;
    const std::string name = "gateway " + std::to_string(g.number) + " on host " + job_.host();
    if (g.failures >= max_failures) {
        PayloadWriter w;
        const std::string text = name + ": " + exit_text(status) + " repeatedly; it is not restarted";
        parent_.send(ControlFrameType::gateway_failed, w.u32(g.number).text(text).take());
        return;
    }
    parent_.report_line(name + ": " + exit_text(status) + "; it is restarted");
    g.restart_at = std::max(os::now_ns(), g.started_at + std::min(first_pause << g.failures, longest_pause));
}

// Reports that it works again. Only after a failure: a job without failures prints nothing.
void GatewaySupervisor::report_recovery(uint32_t client) {
    Gateway& g = gateways_[client - job_.ranks()];
    if (g.starts < 2 || g.reported_start == g.starts || !pmi_.server().has_put(client)) return;
    g.reported_start = g.starts;
    parent_.report_line("gateway " + std::to_string(g.number) + " on host " + job_.host() +
                        " is running again");
}

uint64_t GatewaySupervisor::next_time() const {
    uint64_t next = 0;
    for (const Gateway& g : gateways_)
        if (g.restart_at != 0 && (next == 0 || g.restart_at < next)) next = g.restart_at;
    return lifecycle_.is_running() ? next : 0;
}

void GatewaySupervisor::restart_due() {
    const uint64_t now = os::now_ns();
    if (!lifecycle_.is_running()) return;
    for (Gateway& g : gateways_) {
        const char* step = nullptr;
        if (g.restart_at == 0 || now < g.restart_at) continue;
        if (!start(g, step)) g.restart_at = now + longest_pause; // lack of memory or processes
    }
}

} // namespace zipmpi::launch
