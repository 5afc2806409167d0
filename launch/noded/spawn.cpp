// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/spawn.hpp"

#include "os/parent.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

// Shared with the child, which lives in our memory until it has called exec.
struct Verdict {
    const char* step;
    int error;
};

[[noreturn]] void give_up(volatile Verdict& verdict, const char* step) {
    verdict.error = errno;
    verdict.step = step;
    _exit(127);
}

[[noreturn]] void become(const SpawnPlan& plan, pid_t parent, volatile Verdict& verdict) {
    setpgid(0, 0);
    os::die_with_parent(parent);
    struct sigaction by_default {};
    by_default.sa_handler = SIG_DFL;
    for (int s = 1; s < NSIG; ++s)
        if (sigismember(&plan.ignored, s) == 1) sigaction(s, &by_default, nullptr);
    for (int i = 0; i < 3; ++i)
        if (dup2(plan.stdio[i], i) < 0) give_up(verdict, "connect its standard streams");
    for (const int fd : plan.inherit)
        if (fd >= 0) fcntl(fd, F_SETFD, 0);
    setrlimit(RLIMIT_NOFILE, &plan.open_files);
    // A core that vanished from our set since we looked is no reason to fail.
    if (plan.cpus != nullptr) sched_setaffinity(0, plan.cpu_bytes, plan.cpus);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    if (plan.directory != nullptr && chdir(plan.directory) != 0) give_up(verdict, enter_directory);
    execvpe(plan.path, plan.argv, plan.envp);
    give_up(verdict, "execute it");
}

} // namespace

sigset_t ignored_signals() {
    sigset_t ignored;
    sigemptyset(&ignored);
    for (int s = 1; s < NSIG; ++s) {
        struct sigaction now {};
        if (sigaction(s, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) sigaddset(&ignored, s);
    }
    return ignored;
}

pid_t spawn(const SpawnPlan& plan, const char*& failed_step) {
    volatile Verdict verdict{nullptr, 0};
    const pid_t parent = getpid();
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); // no handler may run in the child while it shares our memory
    const pid_t pid = vfork();
    if (pid == 0) become(plan, parent, verdict);
    const int fork_error = errno;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (pid < 0) {
        failed_step = "make a process";
        errno = fork_error;
        return -1;
    }
    if (verdict.step != nullptr) { // the zombie is reaped with all the others
        failed_step = verdict.step;
        errno = verdict.error;
        return -1;
    }
    return pid;
}

} // namespace zipmpi::launch
