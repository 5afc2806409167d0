// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Memory of another process, read or written by the kernel: one copy, and the other process does nothing for
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/types.h>
#include <sys/uio.h>

namespace zipmpi::os {

// True if all bytes were read; false and errno otherwise.
bool read_process_memory(pid_t pid, uint64_t address, std::byte* to, size_t bytes) noexcept;
// The same into up to 1024 pieces that hold `bytes` bytes, less than 2 GiB, in all.
bool read_process_memory(pid_t pid, uint64_t address, const iovec* pieces, size_t count,
                         size_t bytes) noexcept;
// And with pieces on both sides. Where not all was copied for lack of memory there, errno is EFAULT.
bool read_process_memory(pid_t pid, const iovec* there, size_t count_there, const iovec* here,
                         size_t count_here, size_t bytes) noexcept;

// The other way: writes into the other process. True if all bytes were written.
bool write_process_memory(pid_t pid, uint64_t address, const std::byte* from, size_t bytes) noexcept;
bool write_process_memory(pid_t pid, const iovec* there, size_t count_there, const iovec* here,
                          size_t count_here, size_t bytes) noexcept;

// Whether the call for writing exists and is not filtered out; to which processes it may write is not asked.
bool can_write_process_memory() noexcept;

// Lets other processes of the same user read ours where the kernel asks for such a permission.
void allow_reading_by_others() noexcept;

} // namespace zipmpi::os
