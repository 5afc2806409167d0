// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "os/process_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

namespace zipmpi::os {

bool read_process_memory(pid_t pid, uint64_t address, std::byte* to, size_t bytes) noexcept {
    constexpr size_t most_at_once = size_t{1} << 30; // the kernel stops a little below 2 GiB
    while (bytes > 0) {
        const size_t n = std::min(bytes, most_at_once);
        const iovec local{to, n};
        // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the other process, never used here
        const iovec remote{reinterpret_cast<void*>(address), n};
        const ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        to += got;
        address += static_cast<uint64_t>(got);
        bytes -= static_cast<size_t>(got);
    }
    return true;
}

bool read_process_memory(pid_t pid, uint64_t address, const iovec* iov, size_t count, size_t bytes) noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the other process, never used here
    const iovec remote{reinterpret_cast<void*>(address), bytes};
    return read_process_memory(pid, &remote, 1, iov, count, bytes);
}

bool read_process_memory(pid_t pid, const iovec* there, size_t count_there, const iovec* here,
                         size_t count_here, size_t bytes) noexcept {
    ssize_t got = -1;
    do got = process_vm_readv(pid, here, count_here, there, count_there, 0);
    while (got < 0 && errno == EINTR);
    if (got >= 0 && got != static_cast<ssize_t>(bytes)) errno = EFAULT;
    return got == static_cast<ssize_t>(bytes);
}

bool write_process_memory(pid_t pid, uint64_t address, const std::byte* from, size_t bytes) noexcept {
    const iovec local{const_cast<std::byte*>(from), bytes};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the other process, never used here
    const iovec remote{reinterpret_cast<void*>(address), bytes};
    return write_process_memory(pid, &remote, 1, &local, 1, bytes);
}

bool write_process_memory(pid_t pid, const iovec* there, size_t count_there, const iovec* here,
                          size_t count_here, size_t bytes) noexcept {
    ssize_t put = -1;
    do put = process_vm_writev(pid, here, count_here, there, count_there, 0);
    while (put < 0 && errno == EINTR);
    if (put >= 0 && put != static_cast<ssize_t>(bytes)) errno = EFAULT;
    return put == static_cast<ssize_t>(bytes);
}

bool can_write_process_memory() noexcept {
    const iovec nothing{nullptr, 0};
    return process_vm_writev(getpid(), &nothing, 1, &nothing, 1, 0) == 0;
}

void allow_ptrace_reads() noexcept { prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); }

} // namespace zipmpi::os
