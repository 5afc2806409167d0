// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/tree/daemon_start.hpp"

#include "boot/timeouts.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

constexpr uint64_t retry_pause_ns = 1'000'000'000;
constexpr int exit_no_connection = 255; // of ssh and its relatives; other values are those of the command
constexpr int exit_not_found = 127;     // of a shell
constexpr const char* daemon_name = "zipmpi-noded";

// Failures that waiting does not change.
constexpr std::array permanent = {"Permission denied", "Host key verification failed",
                                  "Too many authentication failures"};

bool is_not_found(int status, std::string_view output) {
    return WEXITSTATUS(status) == exit_not_found ||
           output.find("No such file or directory") != std::string_view::npos;
}

bool is_unreachable(int status, std::string_view output) {
    return WEXITSTATUS(status) == exit_no_connection &&
           std::none_of(permanent.begin(), permanent.end(),
                        [&](const char* text) { return output.find(text) != std::string_view::npos; });
}

} // namespace

std::string daemon_path() {
    char self[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    const std::string path(self, n > 0 ? static_cast<size_t>(n) : 0);
    return path.substr(0, path.rfind('/') + 1) + daemon_name;
}

DaemonStart::DaemonStart(const LaunchTree& plan, const Bootstrap& data)
    : host_(plan.host(data.range.node))
    , command_(agent_command(plan.agent(data.range.node), host_))
    , input_(encode(data)) {
    command_.push_back(shell_quote(plan.daemon));
}

bool DaemonStart::start(Agent& out, Diagnostic& why) {
    retry_at_ = 0;
    return start_agent(command_, host_, input_, out, why);
}

DaemonStart::Next DaemonStart::on_agent_exit(int status, std::string_view output, uint64_t now_ns) {
    if (!WIFEXITED(status) || command_.empty()) return Next::fail;
    if (is_not_found(status, output) && command_.back() != daemon_name) {
        command_.back() = daemon_name;
        retry_at_ = now_ns;
        return Next::retry;
    }
    if (!is_unreachable(status, output)) return Next::fail;
    const bool first = retry_until_ == 0;
    if (first) retry_until_ = now_ns + boot::host_wait_ns();
    if (now_ns + retry_pause_ns > retry_until_) return Next::fail;
    retry_at_ = now_ns + retry_pause_ns;
    return first ? Next::first_to_retry : Next::retry;
}

void DaemonStart::finish() {
    explicit_bzero(input_.data(), input_.size());
    input_.clear();
    command_.clear();
    retry_at_ = 0;
}

} // namespace zipmpi::launch
