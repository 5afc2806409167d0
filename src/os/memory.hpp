// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Shared memory without names: anonymous memory files, mapped, and reserved before use.
#pragma once

#include "os/fd.hpp"

#include <cstddef>
#include <cstdint>

namespace zipmpi::os {

// Creates a sparse memory file of this size, close-on-exec. Empty Fd and errno on failure.
Fd make_memory_file(const char* debug_name, uint64_t size) noexcept;

// Reserves pages so that touching them cannot raise SIGBUS. Returns false with errno if memory is short.
bool reserve(int fd, uint64_t offset, uint64_t length) noexcept;

// As reserve(), for large ranges: reserves nothing if the kernel provides pages when they are first touched,
// as it does for malloc, and the machine has that much memory. Lack of memory then ends a process as it does
// with malloc, and pages that are never touched cost neither time nor memory.
bool reserve_on_access(int fd, uint64_t offset, uint64_t length) noexcept;

// Releases reserved pages; afterwards they read as zeros and hold no memory.
void release_pages(int fd, uint64_t offset, uint64_t length) noexcept;

// Maps a range of whole pages of a memory file. Null and errno on failure.
enum class Access { read_only, read_and_write };
std::byte* map_shared(int fd, uint64_t offset, uint64_t length, Access access) noexcept;
void unmap(std::byte* base, uint64_t length) noexcept;

// Whole pages, in this process. Without effect on old kernels.
void exclude_from_core_dumps(std::byte* base, uint64_t length) noexcept;

// Lets malloc keep up to `kept` freed bytes instead of returning them to the kernel, so that reallocating
// them is cheap. User settings (MALLOC_*_THRESHOLD_) take precedence.
void set_malloc_trim_threshold(int kept) noexcept;

// Private memory that starts as zeros. Large memory consists of pages that the kernel provides when they are
// first written.
class ZeroedMemory {
  public:
    static constexpr size_t alignment = 64;
    // If memory is exhausted, ends like operator new.
    explicit ZeroedMemory(size_t bytes);
    ~ZeroedMemory();
    ZeroedMemory(const ZeroedMemory&) = delete;
    ZeroedMemory& operator=(const ZeroedMemory&) = delete;

    [[nodiscard]] std::byte* base() { return base_; }
    [[nodiscard]] const std::byte* base() const { return base_; }
    [[nodiscard]] size_t size() const { return size_; }
    void grow(size_t bytes); // keeps the contents; base() may change
    void clear();

  private:
    static constexpr size_t mapped_from = 16 * 1024;
    void allocate(size_t bytes);
    void release();

    std::byte* base_ = nullptr;
    size_t size_ = 0;
    bool mapped_ = false;
};

// Shared mapping of a whole memory file, without swap reservation; unmapped by the destructor.
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
