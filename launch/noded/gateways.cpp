// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Gateways of a grid on this host: started before the ranks, watched, and started again when they die. They
// live until mpiexec says that every rank of the job has ended.
#include "launch/noded/daemon.hpp"
#include "launch/noded/spawn.hpp"
#include "launch/report/death.hpp"

#include "boot/limits.hpp"
#include "bridge/grid.hpp"
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
constexpr uint64_t first_pause = 200 * ms; // from one start to the next; doubled by failures, up to
constexpr uint64_t longest_pause = 2000 * ms;
constexpr uint32_t most_failures = 5;

// Beside this program: mpiexec and its daemons come from one installation.
std::string gateway_path() {
    if (std::string other = boot::gateway_program(); !other.empty()) return other;
    char self[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    const std::string path(self, n > 0 ? static_cast<size_t>(n) : 0);
    return path.substr(0, path.rfind('/') + 1) + "zipmpi-gateway";
}

constexpr uint64_t time_to_report = 1'000'000'000; // about what has crossed a gateway

} // namespace

void Daemon::find_gateways() {
    for (uint32_t g = 0; g < request_.gateway_nodes.size(); ++g) {
        if (request_.gateway_nodes[g] != place_.node) continue;
        Gateway& gateway = gateways_.emplace_back();
        gateway.number = g;
    }
}

// Once they have been asked to end: until they have, which kill_at_ sees to.
bool Daemon::gateways_needed() const {
    if (gateways_.empty() || front_gone_) return false;
    return !gateways_end_ || std::ranges::any_of(gateways_, &Gateway::live);
}

void Daemon::end_gateways() {
    gateways_end_ = true;
    for (const Gateway& g : gateways_)
        if (g.live) kill(g.pid, SIGTERM);
    if (!gateways_.empty() && phase_ == Phase::running) kill_at_ = os::now_ns() + time_to_report;
}

// A gateway looks for the devices of its clusters together with ranks, when the job starts. One that starts
// later is told what the first has found, and put as devices.<cluster>.
std::string Daemon::with_found_devices(const Gateway& g) const {
    bridge::Grid grid;
    if (g.starts < 2 || !bridge::parse(request_.grid, grid)) return request_.grid;
    for (bridge::Attachment& a : grid.gateways[g.number].attached) {
        const std::string* found =
            pmi_->found(request_.world_size + g.number, "devices." + std::to_string(a.cluster));
        if (a.devices.empty() && found != nullptr) a.devices = *found;
    }
    return bridge::print(grid);
}

std::vector<std::string> Daemon::gateway_env(const Gateway& g, int pmi_end) {
    std::vector<std::string> env = app_env_[0];
    env.push_back("PMI_FD=" + std::to_string(pmi_end));
    env.push_back("PMI_RANK=" + std::to_string(request_.world_size + g.number));
    env.push_back("PMI_SIZE=" + std::to_string(request_.world_size));
    env.push_back("PMI_JOBID=" + request_.job_id);
    env.push_back("ZIPMPI_NODE_FD=" + std::to_string(segment_.fd()));
    env.push_back("ZIPMPI_JOB_ID=" + request_.job_id);
    env.push_back("ZIPMPI_GRID=" + with_found_devices(g));
    env.push_back("ZIPMPI_GATEWAY=" + std::to_string(g.number));
    env.push_back("ZIPMPI_GATEWAY_EPOCH=" + std::to_string(g.starts));
    return env;
}

bool Daemon::start_gateway(Gateway& g, const char*& step) {
    const auto index = static_cast<uint32_t>(ranks_.size() + static_cast<size_t>(&g - gateways_.data()));
    int p[2];
    step = "make a pipe for its messages";
    if (pipe2(p, O_CLOEXEC) != 0) return false;
    os::Fd err(p[0]);
    const os::Fd err_end(p[1]);
    fcntl(p[0], F_SETFL, O_NONBLOCK);
    step = "make a socket for it";
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
    SpawnPlan plan;
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
    g.again_at = 0;
    g.pmi = std::move(pmi);
    g.pmi_out.clear();
    g.pipe[1] = std::move(err);
    g.lines[1] = LineCutter();
    by_pid_[g.pid] = index;
    watch(output_epoll_.get(), g.pipe[1].get(), EPOLLIN, Source::err, index);
    watch(epoll_.get(), g.pmi.get(), EPOLLIN, Source::pmi, index);
    return true;
}

void Daemon::start_gateways() {
    for (Gateway& g : gateways_) {
        const char* step = nullptr;
        if (start_gateway(g, step)) continue;
        return start_failed(0,
                            {"gateway " + std::to_string(g.number) + " could not be started", "host " + host_,
                             std::string("the daemon could not ") + step + ": " + std::strerror(errno),
                             "check that ZipMPI is installed completely: zipmpi-gateway lies beside mpiexec"},
                            1);
    }
}

void Daemon::say(const std::string& line) {
    Writer w;
    channel_.send(FrameType::output, w.u32(2).u32(no_rank).take() + "mpiexec: " + line + "\n");
}

void Daemon::on_gateway_exit(uint32_t index, int status) {
    Gateway& g = gateways_[index - ranks_.size()];
    g.live = false;
    while (read_output(index, 1)) {
    }
    if (g.pmi) {
        epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, g.pmi.get(), nullptr);
        g.pmi.reset();
    }
    g.failures = pmi_->has_put(index) ? 0 : g.failures + 1;
    pmi_->starts_again(index);
    if (phase_ != Phase::running || gateways_end_ || interrupted_) return;
    const std::string name = "gateway " + std::to_string(g.number) + " on host " + host_;
    if (g.failures >= most_failures) {
        Writer w;
        const std::string text = name + ": " + ending_text(status) + " again and again; it is given up";
        channel_.send(FrameType::gateway_lost, w.u32(g.number).text(text).take());
        return;
    }
    say(name + ": " + ending_text(status) + "; it is started again");
    g.again_at = std::max(os::now_ns(), g.started_at + std::min(first_pause << g.failures, longest_pause));
}

// It speaks again. Only after a death: a job that goes well is silent.
void Daemon::note_put_of(uint32_t index) {
    Gateway& g = gateways_[index - ranks_.size()];
    if (g.starts < 2 || g.said_back == g.starts || !pmi_->has_put(index)) return;
    g.said_back = g.starts;
    say("gateway " + std::to_string(g.number) + " on host " + host_ + " is back");
}

uint64_t Daemon::next_restart() const {
    uint64_t next = 0;
    for (const Gateway& g : gateways_)
        if (g.again_at != 0 && (next == 0 || g.again_at < next)) next = g.again_at;
    return phase_ == Phase::running ? next : 0;
}

void Daemon::restart_gateways() {
    const uint64_t now = os::now_ns();
    if (phase_ != Phase::running) return;
    for (Gateway& g : gateways_) {
        const char* step = nullptr;
        if (g.again_at == 0 || now < g.again_at) continue;
        if (!start_gateway(g, step)) g.again_at = now + longest_pause; // memory or processes are short
    }
}

void Daemon::say_ranks_over() {
    if (ranks_over_said_ || !ranks_over_.all_below(below_)) return;
    ranks_over_said_ = true;
    channel_.send(FrameType::ranks_over);
}

} // namespace zipmpi::launch
