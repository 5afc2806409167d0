// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/descendants.hpp"

#include "os/process_status.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <map>
#include <string>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

constexpr size_t walk_limit = 1U << 20;

// The kernel's list of children. Returns false if the kernel does not provide it.
bool children_of(pid_t pid, std::vector<pid_t>& out) {
    const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
    DIR* dir = opendir(tasks.c_str());
    if (dir == nullptr) return true; // it has exited
    bool known = true;
    while (const dirent* entry = readdir(dir)) {
        if (entry->d_name[0] == '.') continue;
        std::FILE* f = std::fopen((tasks + "/" + entry->d_name + "/children").c_str(), "re");
        if (f == nullptr) {
            known =
                access((tasks + "/" + entry->d_name).c_str(), F_OK) != 0; // missing file, or missing task?
            continue;
        }
        int child = 0;
        while (std::fscanf(f, "%d", &child) == 1) out.push_back(child);
        std::fclose(f);
    }
    closedir(dir);
    return known;
}

// Fallback: scans all processes for their parent.
std::multimap<pid_t, pid_t> all_children() {
    std::multimap<pid_t, pid_t> result;
    DIR* dir = opendir("/proc");
    if (dir == nullptr) return result;
    while (const dirent* entry = readdir(dir)) {
        const int pid = std::atoi(entry->d_name);
        if (pid <= 0) continue;
        if (const pid_t parent = os::process_status(pid).parent; parent != 0) result.emplace(parent, pid);
    }
    closedir(dir);
    return result;
}

} // namespace

std::vector<pid_t> descendants(const std::vector<pid_t>& except) { return descendants_of(getpid(), except); }

std::vector<pid_t> descendants_of(pid_t root, const std::vector<pid_t>& except) {
    std::vector<pid_t> found;
    const auto leave_out = [&] {
        std::erase_if(
            found, [&](pid_t pid) { return std::find(except.begin(), except.end(), pid) != except.end(); });
    };
    bool known = children_of(root, found);
    leave_out();
    for (size_t i = 0; i < found.size() && found.size() < walk_limit; ++i)
        known = children_of(found[i], found) && known;
    if (known) return found;
    found.clear();
    const auto tree = all_children();
    const auto add = [&](pid_t parent) {
        const auto [from, to] = tree.equal_range(parent);
        for (auto it = from; it != to; ++it) found.push_back(it->second);
    };
    add(root);
    leave_out();
    for (size_t i = 0; i < found.size() && found.size() < walk_limit; ++i) add(found[i]);
    return found;
}

void signal_descendants(int signal, const std::vector<pid_t>& group_leaders,
                        const std::vector<pid_t>& except) {
    for (const pid_t leader : group_leaders) kill(-leader, signal);
    for (const pid_t pid : descendants(except)) {
        kill(pid, signal);
        if (signal != SIGKILL) kill(pid, SIGCONT); // a stopped process would not see it
    }
}

} // namespace zipmpi::launch
