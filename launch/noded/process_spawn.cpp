// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/process_spawn.hpp"

#include "os/parent.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

// Shared with the child, which runs in the memory of the parent until exec.
struct SpawnError {
    const char* step;
    int error;
};

[[noreturn]] void fail_spawn(volatile SpawnError& failure, const char* step) {
    failure.error = errno;
    failure.step = step;
    _exit(127);
}

[[noreturn]] void exec_child(const SpawnArgs& plan, pid_t parent, volatile SpawnError& failure) {
    setpgid(0, 0);
    os::die_with_parent(parent);
    struct sigaction by_default {};
    by_default.sa_handler = SIG_DFL;
    for (int s = 1; s < NSIG; ++s)
        if (sigismember(&plan.ignored, s) == 1) sigaction(s, &by_default, nullptr);
    for (int i = 0; i < 3; ++i)
        if (dup2(plan.stdio[i], i) < 0) fail_spawn(failure, "connect its standard streams");
    for (const int fd : plan.inherit)
        if (fd >= 0) fcntl(fd, F_SETFD, 0);
    setrlimit(RLIMIT_NOFILE, &plan.open_files);
    // A CPU may have left the allowed set in the meantime: not an error.
    if (plan.cpus != nullptr) sched_setaffinity(0, plan.cpu_bytes, plan.cpus);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    if (plan.directory != nullptr && chdir(plan.directory) != 0) fail_spawn(failure, enter_directory);
    execvpe(plan.path, plan.argv, plan.envp);
    fail_spawn(failure, "execute it");
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

pid_t spawn(const SpawnArgs& plan, const char*& failed_step) {
    volatile SpawnError failure{nullptr, 0};
    const pid_t parent = getpid();
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all,
                    &before); // no handler may run in the child while it shares this memory
    const pid_t pid = vfork();
    if (pid == 0) exec_child(plan, parent, failure);
    const int fork_error = errno;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (pid < 0) {
        failed_step = "create a process";
        errno = fork_error;
        return -1;
    }
    if (failure.step != nullptr) { // the zombie is reaped with the other children
        failed_step = failure.step;
        errno = failure.error;
        return -1;
    }
    return pid;
}

} // namespace zipmpi::launch
