// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// usage: deny_cma MODE [PROGRAM ARGUMENTS...]
// Starts a program in a process whose memory others cannot read by CMA, or that cannot read that of others;
// without a program it only tries, and exits with 77 where that is not possible (the test is skipped).
//
//   seccomp      the call fails with EPERM           no_call      the call fails with ENOSYS
//   no_writes    only writes into other processes fail, with EPERM
//   undumpable   rank 1 (or a process outside a job) is not dumpable, and no process has CAP_SYS_PTRACE
//   namespace    rank 0 (or a process outside a job) is in a separate user namespace
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

constexpr int skipped = 77;

// Two system calls, or one given twice.
bool filter_calls(unsigned error, unsigned first = SYS_process_vm_readv,
                  unsigned second = SYS_process_vm_writev) {
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, first, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, second, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error & SECCOMP_RET_DATA)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{sizeof program / sizeof *program, program};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// A process with this capability may read any process.
bool drop_ptrace_capability() {
    prctl(PR_CAPBSET_DROP, CAP_SYS_PTRACE); // fails without privileges, when there is none to drop
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct sets[2]{};
    if (syscall(SYS_capget, &head, sets) != 0) return false;
    constexpr unsigned mask = ~(1U << CAP_SYS_PTRACE);
    sets[0].effective &= mask;
    sets[0].permitted &= mask;
    sets[0].inheritable &= mask;
    return syscall(SYS_capset, &head, sets) == 0;
}

// Only in this rank, or in any process outside a job.
bool is_rank(const char* wanted) {
    const char* rank = std::getenv("PMI_RANK");
    return rank == nullptr || std::strcmp(rank, wanted) == 0;
}

bool deny(const std::string& mode) {
    if (mode == "seccomp") return filter_calls(EPERM);
    if (mode == "no_call") return filter_calls(ENOSYS);
    if (mode == "no_writes") return filter_calls(EPERM, SYS_process_vm_writev);
    // exec makes a process dumpable again: the module undumpable.so reverts that.
    if (mode == "undumpable") {
        if (!drop_ptrace_capability()) return false;
        return !is_rank("1") || setenv("LD_PRELOAD", UNDUMPABLE_MODULE, 1) == 0;
    }
    if (mode == "namespace") return !is_rank("0") || unshare(CLONE_NEWUSER) == 0;
    return false;
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    if (!deny(argv[1])) {
        std::fprintf(stderr, "%s is not possible here: %s\n", argv[1], std::strerror(errno));
        return skipped;
    }
    if (argc == 2) return 0;
    execvp(argv[2], argv + 2);
    std::perror(argv[2]);
    return 127;
}
