// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Does the kernel let one process read another's memory here? Two processes are started and try; if it does
// not work, the reason is looked for.
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

// 0, or the error of reading some bytes of a process. At an address that nobody has, EFAULT means: allowed.
int read_error(pid_t pid, const void* address) {
    char byte = 0;
    const iovec here{&byte, 1};
    const iovec there{const_cast<void*>(address), 1};
    return process_vm_readv(pid, &here, 1, &there, 1, 0) == 1 ? 0 : errno;
}

bool allowed(int error) { return error == 0 || error == EFAULT; }

// Runs `task` in a process of its own; its result, 0 to 255.
template <class Task>
int in_a_process(Task&& task) {
    const pid_t child = fork();
    if (child == 0) _exit(task());
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return ECHILD;
    return WEXITSTATUS(status);
}

// One process stands still, another one reads a byte of it.
int error_between_two() {
    static const char target = 1;
    const pid_t parent = getpid();
    const pid_t still = fork();
    if (still < 0) return errno;
    if (still == 0) {
        os::die_with_parent(parent);
        os::allow_reading_by_others();
        for (;;) pause();
    }
    int error = EPERM;
    // It may not have given its permission yet.
    for (int tries = 0; tries < 50 && error == EPERM; ++tries) {
        error = in_a_process([&] { return read_error(still, &target); });
        if (error == EPERM) usleep(1000);
    }
    kill(still, SIGKILL);
    waitpid(still, nullptr, 0);
    return error;
}

int number_in(const char* path, int otherwise) {
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
    if (!allowed(read_error(getpid(), &own)))
        return {"seccomp",
                error == ENOSYS
                    ? "the call does not exist here: a seccomp filter of a container or batch "
                      "system blocks it, or the kernel was built without it"
                    : "a seccomp filter blocks the call, as containers and batch systems set them"};
    if (prctl(PR_GET_DUMPABLE) != 1)
        return {"dumpable",
                "processes are not dumpable here (PR_SET_DUMPABLE, or a program file without read "
                "permission)"};
    const int scope = number_in("/proc/sys/kernel/yama/ptrace_scope", 0);
    if (scope >= 2) return {"ptrace_scope", fmt::format("kernel.yama.ptrace_scope is {}", scope)};
    return {"other", std::string("the kernel says: ") + std::strerror(error)};
}

} // namespace

Json kernel_copy_facts() {
    const int error = error_between_two();
    Json facts{{"works", allowed(error)}};
    if (!allowed(error)) {
        const Cause cause = cause_of(error);
        facts["why"] = cause.text;
        facts["cause"] = cause.name;
    } else if (!in_first_user_namespace() && !allowed(read_error(getppid(), nullptr))) {
        facts["why"] =
            "this process is in a user namespace of its own: ranks in it cannot read those outside";
        facts["limited"] = true;
        facts["cause"] = "namespace";
    }
    return facts;
}

} // namespace zipmpi::tool
