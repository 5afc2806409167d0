// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/descriptors.hpp"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace zipmpi::launch {
namespace {

// Reserve for the start of a rank, for modules and for connections to other daemons.
constexpr uint64_t reserve = 24;

// Numbers from here on are for the daemon's ends of pipes and sockets.
constexpr int first_daemon_end = 64;

// Empty if /proc is not available.
std::vector<int> open_descriptors() {
    std::error_code none;
    std::vector<int> open;
    for (std::filesystem::directory_iterator fds("/proc/self/fd", none), end; !none && fds != end;
         fds.increment(none))
        open.push_back(std::atoi(fds->path().filename().c_str()));
    return open;
}

uint64_t needed_for(uint64_t more) { return open_descriptors().size() + more + reserve; }

} // namespace

rlimit raise_open_files() {
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    rlimit most = before;
    most.rlim_cur = most.rlim_max;
    setrlimit(RLIMIT_NOFILE, &most);
    return before;
}

bool suffices_for(uint64_t more) {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    return needed_for(more) <= limit.rlim_cur;
}

bool check_descriptor_limit(uint64_t more, size_t ranks, const std::string& host, Diagnostic& why) {
    if (suffices_for(more)) return true;
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    const std::string number = std::to_string(needed_for(more));
    why = {"the limit of open files is too low", "host " + host,
           "the daemon needs " + number + " descriptors for " + std::to_string(ranks) +
               " ranks on this host, and the limit (ulimit -Hn) is " + std::to_string(limit.rlim_cur),
           "raise the limit to " + number + " or more (ulimit -n " + number +
               ", or nofile in /etc/security/limits.conf), or start fewer ranks on this host"};
    return false;
}

int highest_inherited_descriptor() {
    const std::vector<int> open = open_descriptors();
    int highest = open.empty() ? INT_MAX : 2;
    for (const int fd : open)
        if (const int flags = fcntl(fd, F_GETFD); flags >= 0 && (flags & FD_CLOEXEC) == 0)
            highest = std::max(highest, fd);
    return highest;
}

void move_above_inherited(os::Fd& end) {
    if (!end || end.get() >= first_daemon_end) return;
    if (const int moved = fcntl(end.get(), F_DUPFD_CLOEXEC, first_daemon_end); moved >= 0) end.reset(moved);
}

} // namespace zipmpi::launch
