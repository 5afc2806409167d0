// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "os/memory.hpp"

#include "os/host.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <malloc.h>
#include <new>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

namespace zipmpi::os {

Fd make_memory_file(const char* debug_name, uint64_t size) noexcept {
    Fd fd(memfd_create(debug_name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!fd) return fd;
    rlimit files{}; // exceeding it would raise SIGXFSZ
    if (getrlimit(RLIMIT_FSIZE, &files) == 0 && files.rlim_cur < size) {
        errno = EFBIG;
        return Fd();
    }
    if (ftruncate(fd.get(), static_cast<off_t>(size)) != 0) return Fd();
    // If another process could shrink the file, an access would raise SIGBUS.
    if (fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) return Fd();
    return fd;
}

bool reserve(int fd, uint64_t offset, uint64_t length) noexcept {
    int rc = 0;
    do {
        rc = fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(length));
    } while (rc != 0 && errno == EINTR);
    return rc == 0;
}

// False if the kernel refuses memory beyond its limit (vm.overcommit_memory is 2): touching a page of a file
// would raise SIGBUS then.
static bool is_overcommitted() noexcept {
    static const bool answer = [] {
        const Fd file(open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC));
        char mode = '2';
        return file && read(file.get(), &mode, 1) == 1 && mode != '2';
    }();
    return answer;
}

bool reserve_on_access(int fd, uint64_t offset, uint64_t length) noexcept {
    if (!is_overcommitted()) return reserve(fd, offset, length);
    static const uint64_t all = physical_memory();
    return length <= all;
}

void release_pages(int fd, uint64_t offset, uint64_t length) noexcept {
    // On failure the memory stays reserved until the job ends.
    static_cast<void>(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                                static_cast<off_t>(length)));
}

std::byte* map_shared(int fd, uint64_t offset, uint64_t length, Access access) noexcept {
    const int protection = access == Access::read_only ? PROT_READ : PROT_READ | PROT_WRITE;
    void* p = mmap(nullptr, length, protection, MAP_SHARED | MAP_NORESERVE, fd, static_cast<off_t>(offset));
    return p == MAP_FAILED ? nullptr : static_cast<std::byte*>(p);
}

void unmap(std::byte* base, uint64_t length) noexcept { munmap(base, length); }

void exclude_from_core_dumps(std::byte* base, uint64_t length) noexcept {
    madvise(base, length, MADV_DONTDUMP);
}

void set_malloc_trim_threshold(int kept) noexcept {
    constexpr int mapped_from = 1 << 20;
    if (std::getenv("MALLOC_TRIM_THRESHOLD_") == nullptr) mallopt(M_TRIM_THRESHOLD, kept);
    if (std::getenv("MALLOC_MMAP_THRESHOLD_") == nullptr) mallopt(M_MMAP_THRESHOLD, mapped_from);
}

ZeroedMemory::ZeroedMemory(size_t bytes) { allocate(bytes); }

ZeroedMemory::~ZeroedMemory() { release(); }

void ZeroedMemory::allocate(size_t bytes) {
    size_ = bytes;
    base_ = nullptr;
    mapped_ = false;
    if (bytes == 0) return;
    if (bytes >= mapped_from) {
        void* const p =
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        mapped_ = p != MAP_FAILED;
        if (mapped_) {
            madvise(p, bytes, MADV_NOHUGEPAGE); // a huge page would be provided as a whole
            base_ = static_cast<std::byte*>(p);
            return;
        }
    }
    base_ = static_cast<std::byte*>(::operator new (bytes, std::align_val_t{alignment}));
    std::memset(base_, 0, bytes);
}

void ZeroedMemory::release() {
    if (mapped_)
        munmap(base_, size_);
    else
        ::operator delete (base_, std::align_val_t{alignment});
}

void ZeroedMemory::grow(size_t bytes) {
    if (mapped_) {
        void* const p = mremap(base_, size_, bytes, MREMAP_MAYMOVE);
        if (p != MAP_FAILED) {
            base_ = static_cast<std::byte*>(p);
            size_ = bytes;
            return;
        }
    }
    ZeroedMemory larger(bytes);
    if (size_ != 0) std::memcpy(larger.base_, base_, size_);
    std::swap(base_, larger.base_);
    std::swap(size_, larger.size_);
    std::swap(mapped_, larger.mapped_);
}

void ZeroedMemory::clear() {
    if (mapped_ && madvise(base_, size_, MADV_DONTNEED) == 0) return;
    if (size_ != 0) std::memset(base_, 0, size_);
}

Mapping::Mapping(int fd, uint64_t size, Access access) noexcept
    : base_(map_shared(fd, 0, size, access))
    , size_(base_ != nullptr ? size : 0) {}

Mapping::Mapping(Mapping&& other) noexcept
    : base_(std::exchange(other.base_, nullptr))
    , size_(std::exchange(other.size_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(size_, other.size_);
    return *this;
}

Mapping::~Mapping() {
    if (base_ != nullptr) munmap(base_, size_);
}

} // namespace zipmpi::os
