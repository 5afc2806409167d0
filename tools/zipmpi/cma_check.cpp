// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Checks whether one process may read another's memory (CMA) on this host. Two processes try it; if it fails,
// the cause is determined.
#include "info.hpp"

#include "os/parent.hpp"
#include "os/process_memory.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zipmpi::tool {
namespace {

// 0, or the error of reading a process. At an unmapped address, EFAULT means that access is permitted.
int read_error(pid_t pid, const void* address) {
    char byte = 0;
    const iovec here{&byte, 1};
    const iovec there{const_cast<void*>(address), 1};
    return process_vm_readv(pid, &here, 1, &there, 1, 0) == 1 ? 0 : errno;
}

bool is_allowed(int error) { return error == 0 || error == EFAULT; }

// Runs `task` in a new process; returns its result, 0 to 255.
template <class Task>
int run_in_child(Task&& task) {
    const pid_t child = fork();
    if (child == 0) _exit(task());
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return ECHILD;
    return WEXITSTATUS(status);
}

// One process sleeps, another one reads a byte of it.
int error_between_processes() {
    static const char target = 1;
    const pid_t parent = getpid();
    const pid_t still = fork();
    if (still < 0) return errno;
    if (still == 0) {
        os::die_with_parent(parent);
        os::allow_ptrace_reads();
        for (;;) pause();
    }
    int error = EPERM;
    // It may not have granted permission yet.
    for (int tries = 0; tries < 50 && error == EPERM; ++tries) {
        error = run_in_child([&] { return read_error(still, &target); });
        if (error == EPERM) usleep(1000);
    }
    kill(still, SIGKILL);
    waitpid(still, nullptr, 0);
    return error;
}

int read_number(const char* path, int otherwise) {
    int value = otherwise;
    if (std::FILE* f = std::fopen(path, "re")) {
        if (std::fscanf(f, "%d", &value) != 1) value = otherwise;
        std::fclose(f);
    }
    return value;
}

bool in_first_user_namespace() {
    unsigned long long inside = 1, outside = 1, count = 0;
    if (std::FILE* f = std::fopen("/proc/self/uid_map", "re")) {
        if (std::fscanf(f, "%llu %llu %llu", &inside, &outside, &count) != 3) count = 0;
        std::fclose(f);
    }
    return inside == 0 && outside == 0 && count == 4294967295ULL;
}

struct Cause {
    const char* name;
    std::string text;
};

Cause cause_of(int error) {
    const char own = 1;
    if (!is_allowed(read_error(getpid(), &own)))
        return {"seccomp", error == ENOSYS
                               ? "the call is not available: a seccomp filter of a container or batch "
                                 "system blocks it, or the kernel was built without it"
                               : "a seccomp filter blocks the call, as in many containers and batch systems"};
    if (prctl(PR_GET_DUMPABLE) != 1)
        return {"dumpable",
                "processes are not dumpable here (PR_SET_DUMPABLE, or a program file without read "
                "permission)"};
    const int scope = read_number("/proc/sys/kernel/yama/ptrace_scope", 0);
    if (scope >= 2) return {"ptrace_scope", fmt::format("kernel.yama.ptrace_scope is {}", scope)};
    return {"other", std::string("the kernel reports: ") + std::strerror(error)};
}

} // namespace

Json cma_facts() {
    const int error = error_between_processes();
    Json facts{{"works", is_allowed(error)}};
    if (!is_allowed(error)) {
        const Cause cause = cause_of(error);
        facts["why"] = cause.text;
        facts["cause"] = cause.name;
    } else if (!in_first_user_namespace() && !is_allowed(read_error(getppid(), nullptr))) {
        facts["why"] = "this process has its own user namespace: ranks in it cannot read ranks outside";
        facts["limited"] = true;
        facts["cause"] = "namespace";
    }
    return facts;
}

} // namespace zipmpi::tool
