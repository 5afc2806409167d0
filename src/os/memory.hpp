// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Shared memory without names: an anonymous memory file, mapped, reserved before use.
#pragma once

#include "os/fd.hpp"

#include <cstddef>
#include <cstdint>

namespace zipmpi::os {

// A memory file of this size that holds no memory yet. Close-on-exec. Empty Fd and errno on failure.
Fd make_memory_file(const char* debug_name, uint64_t size) noexcept;

// Reserves pages so that touching them cannot raise SIGBUS. False and errno if memory is short.
bool reserve(int fd, uint64_t offset, uint64_t length) noexcept;

// Gives reserved pages back: they are empty and hold no memory afterwards.
void give_up(int fd, uint64_t offset, uint64_t length) noexcept;

// Maps a part of a memory file; whole pages. Null and errno on failure.
enum class Access { read_only, read_and_write };
std::byte* map_shared(int fd, uint64_t offset, uint64_t length, Access access) noexcept;
void unmap(std::byte* base, uint64_t length) noexcept;

// Freed memory up to `kept` bytes stays with the process, unless the user has told malloc otherwise: who
// wants it again at once does not pay for its return to the kernel.
void keep_freed_memory(int kept) noexcept;

// Maps a whole memory file shared, without reserving swap. Unmaps itself.
class Mapping {
  public:
    Mapping() = default;
    Mapping(int fd, uint64_t size, Access access = Access::read_and_write) noexcept;
    Mapping(Mapping&& other) noexcept;
    Mapping& operator=(Mapping&& other) noexcept;
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping();

    explicit operator bool() const { return base_ != nullptr; }
    [[nodiscard]] std::byte* base() const { return base_; }
    [[nodiscard]] uint64_t size() const { return size_; }

  private:
    std::byte* base_ = nullptr;
    uint64_t size_ = 0;
};

} // namespace zipmpi::os
