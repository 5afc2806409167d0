// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// MPI_INFO_ENV: how this process was started.
#include "core/api/info.hpp"
#include "core/comm/cluster.hpp"
#include "core/info/launch_keys.hpp"
#include "core/runtime_state.hpp"
#include "os/host.hpp"

#include <climits>
#include <cstdio>
#include <string>
#include <unistd.h>

namespace zipmpi::core {
namespace {

struct EnvInfo : Info {
    EnvInfo() { cls = ObjectKind::info; }
    bool filled = false;
};

EnvInfo& environment_info() {
    static EnvInfo env;
    return env;
}

// Words of the command line from /proc, each terminated by a zero byte.
std::vector<std::string> command_line() {
    std::vector<std::string> args;
    FILE* const file = std::fopen("/proc/self/cmdline", "re");
    if (file == nullptr) return args;
    std::string arg;
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
        if (c != 0) {
            arg.push_back(static_cast<char>(c));
            continue;
        }
        args.push_back(std::move(arg));
        arg.clear();
    }
    std::fclose(file);
    return args;
}

const char* name_of(ThreadLevel level) {
    constexpr const char* names[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED",
                                     "MPI_THREAD_MULTIPLE"};
    return names[static_cast<int>(level)];
}

void add_command(Hints& hints) {
    const std::vector<std::string> args = command_line();
    if (!args.empty()) {
        hints.set("command", args[0]);
        std::string rest;
        for (size_t i = 1; i < args.size(); ++i) rest += (i > 1 ? " " : "") + args[i];
        if (!rest.empty()) hints.set("argv", rest);
    }
    hints.set("host", os::host_name());
    char folder[PATH_MAX];
    if (getcwd(folder, sizeof folder) != nullptr) hints.set("wdir", folder);
    add_launch_keys(hints);
}

void add_job(Hints& hints) {
    const Runtime* const e = runtime();
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

Info& info_env() noexcept { return environment_info(); }

const Hints& hints_of(Info& info) {
    EnvInfo& env = environment_info();
    if (&info == &env && !env.filled) {
        env.filled = runtime() != nullptr; // before MPI_Init only a subset is known
        add_command(env.hints);
        add_job(env.hints);
    }
    return info.hints;
}

// Does not depend on MPI being initialized.
Err info_create_env(int, char**, Info*& info) {
    Hints hints;
    add_command(hints);
    return make_info(std::move(hints), info);
}

} // namespace zipmpi::core
