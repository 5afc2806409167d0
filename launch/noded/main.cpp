// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// zipmpi-noded: the daemon of a host other than mpiexec's. A launch agent starts it; it reads its bootstrap
// data from standard input. Two processes: the daemon, and a guard that only kills what is left if the daemon
// is killed. (On the host of mpiexec, mpiexec is the guard.)
#include "launch/noded/descendants.hpp"
#include "launch/noded/noded.hpp"
#include "launch/placement/cpu_claims.hpp"
#include "launch/protocol/scratch.hpp"

#include "os/clock.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace zipmpi;
using namespace zipmpi::launch;

namespace {
constexpr int bootstrap_ms = 30'000;
constexpr int connect_ms = 20'000;
constexpr uint64_t clean_up_ns = 2'000'000'000;

// Kills and reaps until there are no children; this process is their subreaper.
void clean_up() {
    const uint64_t until = os::now_ns() + clean_up_ns;
    while (os::now_ns() < until) {
        while (waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        if (waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD) return;
        signal_descendants(SIGKILL, {});
        usleep(1000);
    }
}

// The guard forwards signals to the daemon.
int guard(pid_t daemon, const sigset_t& signals, const std::string& scratch) {
    prctl(PR_SET_NAME, "zipmpi-guard");
    for (;;) {
        int status = 0;
        const int got = sigwaitinfo(&signals, nullptr);
        if (got > 0 && got != SIGCHLD) kill(daemon, got);
        if (waitpid(daemon, &status, WNOHANG) != daemon) continue;
        clean_up();
        remove_scratch(scratch);
        remove_unused_claims(claims_path());
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
        std::puts("zipmpi-noded (ZipMPI) " ZIPMPI_VERSION);
        return 0;
    }
    for (int fd = 0; fd < 3; ++fd)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) return 1;
    prctl(PR_SET_DUMPABLE, 0); // keys of the job are in this memory
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); // output files of ranks: exceeding a file size limit is an error of write()
    Bootstrap b;
    Diagnostic why;
    if (!read_bootstrap(STDIN_FILENO, bootstrap_ms, b, why)) {
        report(why, "zipmpi-noded");
        return 2;
    }
    ParentConnection parent = connect_to_parent(b, connect_ms, why);
    if (!parent.socket) {
        report(why, "zipmpi-noded");
        return 1;
    }
    sigset_t signals;
    sigemptyset(&signals);
    for (const int s : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, s);
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const pid_t self = getpid();
    const pid_t daemon = fork();
    if (daemon == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM); // without its guard it ends the job
        return getppid() == self ? noded_main(std::move(parent), b.range, &b.secret) : 1;
    }
    parent = {}; // the guard must not keep the connection open
    wipe(b.secret);
    return daemon > 0 ? guard(daemon, signals, node_scratch_name(b.job_id, b.range.node)) : 1;
}
