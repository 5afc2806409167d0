// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Checks of kernel permissions, by trying the operations.
#include "doctor/doctor.hpp"
#include "info.hpp"

#include "os/memory.hpp"

#include <cerrno>
#include <cstring>

namespace zipmpi::tool {
namespace {

const char* remedy_of(const std::string& cause) {
    if (cause == "seccomp")
        return "allow process_vm_readv and process_vm_writev: docker run --security-opt seccomp=unconfined "
               "or "
               "--cap-add SYS_PTRACE, podman --cap-add SYS_PTRACE, or contact the administrator of the batch "
               "system";
    if (cause == "dumpable")
        return "make the program file readable for its user (chmod +r), and do not set "
               "PR_SET_DUMPABLE to 0; or set ZIPMPI_CMA_ENABLE=no to silence this";
    if (cause == "ptrace_scope")
        return "as root: sysctl kernel.yama.ptrace_scope=1 (keep it in /etc/sysctl.d), or allocate "
               "buffers of large messages with MPI_Alloc_mem, which needs no permission";
    if (cause == "namespace")
        return "start all ranks of the host in one container or user namespace (podman: --userns=keep-id "
               "with one container per host)";
    return "find the security module that denies it (dmesg, audit log), or allocate "
           "buffers of large messages with MPI_Alloc_mem, which needs no permission";
}

} // namespace

void check_kernel(Findings& found) {
    const Json copy = cma_facts();
    if (!copy.at("works").get<bool>() || copy.contains("limited"))
        found.push_back(
            {"cma-copy", "a process may not read the memory of another one",
             "large messages are copied twice instead of once: " + copy.at("why").get<std::string>(),
             remedy_of(copy.value("cause", ""))});
    const os::Fd file = os::make_memory_file("zipmpi-doctor", 1 << 20);
    if (!file || !os::reserve(file.get(), 0, 1 << 20))
        found.push_back({"memory-file", "a memory file cannot be created",
                         std::string("the ranks of a host share one (memfd_create), and no job starts "
                                     "without it: ") +
                             std::strerror(errno),
                         "allow memfd_create and fallocate in the seccomp filter, raise ulimit -f, or free "
                         "memory; /dev/shm is not needed"});
}

} // namespace zipmpi::tool
