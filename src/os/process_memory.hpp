// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reads and writes memory of another process (CMA: process_vm_readv, process_vm_writev): a single copy
// without participation of the other process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/types.h>
#include <sys/uio.h>

namespace zipmpi::os {

// Returns true if all bytes were read, else false with errno.
bool read_process_memory(pid_t pid, uint64_t address, std::byte* to, size_t bytes) noexcept;
// Reads into up to 1024 segments of `bytes` bytes in total, less than 2 GiB.
bool read_process_memory(pid_t pid, uint64_t address, const iovec* iov, size_t count, size_t bytes) noexcept;
// Reads from segments into segments. errno is EFAULT if remote memory was not accessible in full.
bool read_process_memory(pid_t pid, const iovec* there, size_t count_there, const iovec* here,
                         size_t count_here, size_t bytes) noexcept;

// Writes into the other process. Returns true if all bytes were written, else false with errno.
bool write_process_memory(pid_t pid, uint64_t address, const std::byte* from, size_t bytes) noexcept;
bool write_process_memory(pid_t pid, const iovec* there, size_t count_there, const iovec* here,
                          size_t count_here, size_t bytes) noexcept;

// Returns true if process_vm_writev exists and is not filtered; permissions for a target are not checked.
bool can_write_process_memory() noexcept;

// Allows other processes of the same user to read this process's memory if the kernel (Yama) requires
// permission.
void allow_ptrace_reads() noexcept;

} // namespace zipmpi::os
