// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// MPI_INFO_ENV: how this process was started.
#include "core/comm/cluster.hpp"
#include "core/info/at_launch.hpp"
#include "core/state.hpp"
#include "os/host.hpp"

#include <climits>
#include <cstdio>
#include <string>
#include <unistd.h>

namespace zipmpi::core {
namespace {

struct Environment : Info {
    Environment() { cls = Class::info; }
    bool filled = false;
};

Environment& environment() {
    static Environment env;
    return env;
}

// The words of the command line: the kernel keeps them, each ended by a zero.
std::vector<std::string> command_line() {
    std::vector<std::string> words;
    FILE* const file = std::fopen("/proc/self/cmdline", "re");
    if (file == nullptr) return words;
    std::string word;
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
        if (c != 0) {
            word.push_back(static_cast<char>(c));
            continue;
        }
        words.push_back(std::move(word));
        word.clear();
    }
    std::fclose(file);
    return words;
}

const char* name_of(ThreadLevel level) {
    constexpr const char* names[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED",
                                     "MPI_THREAD_MULTIPLE"};
    return names[static_cast<int>(level)];
}

void add_command(Hints& hints) {
    const std::vector<std::string> words = command_line();
    if (!words.empty()) {
        hints.set("command", words[0]);
        std::string rest;
        for (size_t i = 1; i < words.size(); ++i) rest += (i > 1 ? " " : "") + words[i];
        if (!rest.empty()) hints.set("argv", rest);
    }
    hints.set("host", os::host_name());
    char folder[PATH_MAX];
    if (getcwd(folder, sizeof folder) != nullptr) hints.set("wdir", folder);
    add_launch_keys(hints);
}

void add_job(Hints& hints) {
    const Engine* const e = engine();
    if (e == nullptr) return;
    hints.set("maxprocs", std::to_string(e->job.size));
    hints.set("soft", std::to_string(e->job.size));
    hints.set("thread_level", name_of(e->thread_level));
    const OwnCluster cluster = own_cluster();
    if (cluster.name.empty()) return;
    hints.set(cluster_key, cluster.name);
    hints.set(clusters_key, std::to_string(cluster.count));
}

} // namespace

Info& info_env() noexcept { return environment(); }

const Hints& hints_of(Info& info) {
    Environment& env = environment();
    if (&info == &env && !env.filled) {
        env.filled = engine() != nullptr; // before MPI_Init only a part is known
        add_command(env.hints);
        add_job(env.hints);
    }
    return info.hints;
}

// The same whether MPI runs or not.
Err info_create_env(int, char**, Info*& info) {
    Hints hints;
    add_command(hints);
    return make_info(std::move(hints), info);
}

} // namespace zipmpi::core
