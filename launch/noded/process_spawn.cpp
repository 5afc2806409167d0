// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/process_spawn.hpp"

#include "os/memory_checker.hpp"
#include "os/parent.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <fcntl.h>
#include <memory>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

// Shared with the child, which runs in the memory of the parent until exec.
struct SpawnError {
    const char* step;
    int error;
};

// The child runs on a stack that the address sanitizer does not know, and warns of before calls that do not
// return.
#define ZIPMPI_ON_OWN_STACK __attribute__((no_sanitize("address")))

[[noreturn]] ZIPMPI_ON_OWN_STACK void fail_spawn(volatile SpawnError& failure, const char* step) {
    failure.error = errno;
    failure.step = step;
    _exit(127);
}

// Gives the child its own descriptors, without those that it does not inherit: copying all descriptors of a
// daemon with many ranks would cost each rank time and memory that grow with their number.
bool separate_descriptors(const SpawnArgs& plan) {
    int highest = plan.highest_inherited;
    for (const int fd : plan.stdio) highest = std::max(highest, fd);
    for (const int fd : plan.inherit) highest = std::max(highest, fd);
#ifdef SYS_close_range
    constexpr unsigned unshare_descriptors = 2; // CLOSE_RANGE_UNSHARE
    if (syscall(SYS_close_range, static_cast<unsigned>(highest) + 1, UINT_MAX, unshare_descriptors) == 0)
        return true;
#endif
    return unshare(CLONE_FILES) == 0; // Linux before 5.9; exec closes the others
}

[[noreturn]] ZIPMPI_ON_OWN_STACK void exec_child(const SpawnArgs& plan, pid_t parent,
                                                 volatile SpawnError& failure) {
    if (!separate_descriptors(plan)) fail_spawn(failure, "separate its descriptors");
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

struct ChildArgs {
    const SpawnArgs& plan;
    pid_t parent;
    volatile SpawnError& failure;
};

ZIPMPI_ON_OWN_STACK int run_child(void* args) {
    const auto& child = *static_cast<const ChildArgs*>(args);
    exec_child(child.plan, child.parent, child.failure);
}

// As vfork(), and the child shares the descriptors of this process until it separates its own.
pid_t start_child(ChildArgs& args) {
    constexpr size_t reserve = size_t{64} << 10;
    size_t words = 0;
    while (args.plan.argv[words] != nullptr) ++words;
    const size_t bytes = reserve + 2 * words * sizeof(char*); // execvpe() copies the arguments of a script
    const std::unique_ptr<std::byte[]> stack(new std::byte[bytes]);
    const int files = os::under_valgrind() ? 0 : CLONE_FILES; // which valgrind does not support
#if defined(__SANITIZE_THREAD__)
    constexpr int memory = 0; // the thread sanitizer takes clone() for fork(); errors of the child are lost
#else
    constexpr int memory = CLONE_VM;
#endif
    return clone(run_child, stack.get() + bytes / 16 * 16, memory | CLONE_VFORK | files | SIGCHLD, &args);
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
    ChildArgs args{plan, parent, failure};
    const pid_t pid = start_child(args);
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
