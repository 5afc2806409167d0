// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/start_daemons.hpp"

#include "launch/noded/noded.hpp"

#include "os/host.hpp"
#include "os/random.hpp"

#include <cerrno>
#include <cstring>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

bool start_local_daemon(Subtree& subtree, os::Fd& signals, Diagnostic& why) {
    int ends[2];
    const auto refuse = [&](const char* step) {
        why = {"the node daemon could not be started", "host " + os::host_name(),
               std::string(step) + ": " + std::strerror(errno),
               "raise the limits of processes and open files (ulimit -u, -n)"};
        return false;
    };
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return refuse("creating a socket pair");
    os::Fd parent_end(ends[0]);
    os::Fd daemon_end(ends[1]);
    const pid_t daemon = fork();
    if (daemon < 0) return refuse("creating a process");
    if (daemon == 0) {
        parent_end.reset();
        signals.reset();
        _exit(noded_main({std::move(daemon_end), nullptr}, {}, nullptr));
    }
    subtree.attach({}, std::move(parent_end), daemon);
    return true;
}

} // namespace

bool start_daemons(const StartRequest& request, Subtree& subtree, os::Fd& signals, Diagnostic& why) {
    const auto nodes = request.tree.nodes();
    if (nodes == 0) return start_local_daemon(subtree, signals, why);
    prctl(PR_SET_DUMPABLE, 0); // keys of the job are in this memory
    JobKey secret;
    if (!os::fill_random(secret.data(), secret.size())) {
        why = {"the secret of the job cannot be created", "host " + os::host_name(),
               "the kernel returned no random bytes", "start the job again"};
        return false;
    }
    const bool started = subtree.start_children(request.tree, secret, {0, nodes}, why);
    wipe(secret);
    return started;
}

} // namespace zipmpi::launch
