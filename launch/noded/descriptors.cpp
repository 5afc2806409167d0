// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/descriptors.hpp"

#include <filesystem>
#include <string>
#include <system_error>

namespace zipmpi::launch {
namespace {

// Reserve for the start of a rank, for modules and for connections to other daemons.
constexpr uint64_t reserve = 24;

// 0 if /proc is not available.
uint64_t count_open_descriptors() {
    std::error_code none;
    uint64_t count = 0;
    for (std::filesystem::directory_iterator fds("/proc/self/fd", none), end; !none && fds != end;
         fds.increment(none))
        ++count;
    return count;
}

} // namespace

rlimit raise_open_files() {
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    rlimit most = before;
    most.rlim_cur = most.rlim_max;
    setrlimit(RLIMIT_NOFILE, &most);
    return before;
}

bool check_descriptor_limit(uint64_t more, size_t ranks, const std::string& host, Diagnostic& why) {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    const uint64_t needed = count_open_descriptors() + more + reserve;
    if (needed <= limit.rlim_cur) return true;
    const std::string number = std::to_string(needed);
    why = {"the limit of open files is too low", "host " + host,
           "the daemon needs " + number + " descriptors for " + std::to_string(ranks) +
               " ranks on this host, and the limit (ulimit -Hn) is " + std::to_string(limit.rlim_cur),
           "raise the limit to " + number + " or more (ulimit -n " + number +
               ", or nofile in /etc/security/limits.conf), or start fewer ranks on this host"};
    return false;
}

} // namespace zipmpi::launch
