// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/io/posix_file.hpp"

#include "core/datatype/contiguous.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace zipmpi::core::io {
namespace {

constexpr uint64_t direct_segment_min = 64 << 10; // smallest segment moved without a copy
constexpr int64_t sieve_bytes_max = 4 << 20;      // largest sieved range
constexpr int64_t read_hole_max = 2 << 10;        // largest hole read over: a system call costs more
constexpr int64_t write_hole_max = 4 << 10;

int64_t end_of(const FileSegment& p) { return p.at + static_cast<int64_t>(p.bytes); }

// Reads all bytes up to the end of the file. Returns -1 on error, with errno set.
int64_t read_fully(int fd, std::byte* to, int64_t bytes, int64_t at) {
    int64_t done = 0;
    while (done < bytes) {
        const ssize_t n = ::pread(fd, to + done, static_cast<size_t>(bytes - done), at + done);
        if (n == 0) break;
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        done += n;
    }
    return done;
}

bool write_fully(int fd, const std::byte* from, int64_t bytes, int64_t at) {
    int64_t done = 0;
    while (done < bytes) {
        const ssize_t n = ::pwrite(fd, from + done, static_cast<size_t>(bytes - done), at + done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        done += n;
    }
    return true;
}

// Segments that are moved together.
struct SievedRange {
    size_t segment_count = 1;
    int64_t from = 0;
    int64_t end = 0;
    bool has_holes = false;
    [[nodiscard]] int64_t bytes() const { return end - from; }
};

SievedRange next_sieved_range(FileSegments segments, int64_t hole_max) {
    SievedRange g{1, segments[0].at, end_of(segments[0]), false};
    if (segments[0].bytes >= direct_segment_min) return g;
    for (const FileSegment& p : segments.subspan(1)) {
        if (p.bytes >= direct_segment_min || p.at - g.end > hole_max || end_of(p) - g.from > sieve_bytes_max)
            break;
        g.has_holes = g.has_holes || p.at > g.end;
        g.end = std::max(g.end, end_of(p));
        ++g.segment_count;
    }
    return g;
}

// Buffer for sieving, allocated on first use.
class SieveBuffer {
  public:
    std::byte* get() {
        if (memory_ == nullptr) memory_ = allocate_bytes(sieve_bytes_max);
        return static_cast<std::byte*>(memory_.get());
    }

  private:
    HeapBytes memory_;
};

Err read_error() { return system_error("read", "the file"); }
Err write_error() { return system_error("write", "the file"); }

Err read_sieved(int fd, FileSegments segments, const SievedRange& g, std::byte* sieve, int64_t& end) {
    std::byte* const to = g.segment_count == 1 ? segments[0].data : sieve;
    const int64_t got = read_fully(fd, to, g.bytes(), g.from);
    if (got < 0) return read_error();
    if (got < g.bytes()) end = g.from + got;
    for (const FileSegment& p : segments.first(g.segment_count)) {
        const int64_t there = std::min<int64_t>(end_of(p), g.from + got) - p.at;
        if (g.segment_count > 1 && there > 0)
            std::memcpy(p.data, sieve + (p.at - g.from), static_cast<size_t>(there));
    }
    return Err::success;
}

Err write_sieved(int fd, FileSegments segments, const SievedRange& g, std::byte* sieve) {
    if (g.segment_count == 1)
        return write_fully(fd, segments[0].data, g.bytes(), g.from) ? Err::success : write_error();
    RangeLock lock;
    if (g.has_holes) {
        if (const Err e = lock.acquire(fd, g.from, g.bytes(), true); e != Err::success) return e;
        const int64_t got = read_fully(fd, sieve, g.bytes(), g.from);
        if (got < 0) return read_error();
        std::memset(sieve + got, 0, static_cast<size_t>(g.bytes() - got));
    }
    for (const FileSegment& p : segments.first(g.segment_count))
        std::memcpy(sieve + (p.at - g.from), p.data, p.bytes);
    return write_fully(fd, sieve, g.bytes(), g.from) ? Err::success : write_error();
}

struct ErrnoMapping {
    int errno_value;
    Err error;
    const char* fix;
};
constexpr ErrnoMapping errno_mappings[] = {
    {ENOENT, Err::no_such_file, "pass the name of a file that exists, or MPI_MODE_CREATE"},
    {EACCES, Err::access, "use an access mode that the file's permissions allow"},
    {EPERM, Err::access, "use an access mode that the file's permissions allow"},
    {EROFS, Err::read_only, "open the file with MPI_MODE_RDONLY"},
    {EEXIST, Err::file_exists, "remove the file, or leave out MPI_MODE_EXCL"},
    {ENAMETOOLONG, Err::bad_file, "pass a shorter name"},
    {ENOTDIR, Err::bad_file, "pass the name of a file in an existing directory"},
    {EISDIR, Err::bad_file, "pass the name of a file, not of a directory"},
    {ELOOP, Err::bad_file, "check the symbolic links in the path"},
    {ENOSPC, Err::no_space, "free space on the file system"},
    {EDQUOT, Err::quota, "free space in your quota"},
    {EFBIG, Err::no_space, "write smaller files"},
    {ETXTBSY, Err::file_in_use, "end the program that runs from this file"},
    {ENOMEM, Err::no_mem, "free memory"},
};

} // namespace

Err system_error(const char* what, const char* name) {
    const int number = errno;
    for (const ErrnoMapping& m : errno_mappings)
        if (m.errno_value == number)
            return fail(m.error, m.fix, "could not %s %s: %s", what, name, std::strerror(number));
    return fail(Err::io, "check the file system", "could not %s %s: %s", what, name, std::strerror(number));
}

Err read_segments(int fd, FileSegments segments, int64_t& end) {
    SieveBuffer sieve;
    end = eof_not_reached;
    while (!segments.empty() && end == eof_not_reached) {
        const SievedRange g = next_sieved_range(segments, read_hole_max);
        std::byte* const memory = g.segment_count > 1 ? sieve.get() : nullptr;
        if (g.segment_count > 1 && memory == nullptr) return buffer_alloc_error(sieve_bytes_max);
        if (const Err e = read_sieved(fd, segments, g, memory, end); e != Err::success) return e;
        segments = segments.subspan(g.segment_count);
    }
    return Err::success;
}

Err write_segments(int fd, FileSegments segments, Holes holes) {
    SieveBuffer sieve;
    while (!segments.empty()) {
        const SievedRange g = next_sieved_range(segments, holes == Holes::sieve ? write_hole_max : 0);
        std::byte* const memory = g.segment_count > 1 ? sieve.get() : nullptr;
        if (g.segment_count > 1 && memory == nullptr) return buffer_alloc_error(sieve_bytes_max);
        if (const Err e = write_sieved(fd, segments, g, memory); e != Err::success) return e;
        segments = segments.subspan(g.segment_count);
    }
    return Err::success;
}

namespace {

// Open-file-description locks, which survive closing another descriptor of the same file.
int lock_command(int fd, short type, int64_t from, int64_t bytes) {
    struct flock lock {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = from;
    lock.l_len = bytes;
    int result = ::fcntl(fd, F_OFD_SETLKW, &lock);
    if (result != 0 && errno == EINVAL) result = ::fcntl(fd, F_SETLKW, &lock);
    return result;
}

} // namespace

Err RangeLock::acquire(int fd, int64_t from, int64_t bytes, bool exclusive) {
    int result = 0;
    do result = lock_command(fd, exclusive ? F_WRLCK : F_RDLCK, from, bytes);
    while (result != 0 && errno == EINTR);
    if (result != 0) return system_error("lock", "a range of the file");
    fd_ = fd;
    from_ = from;
    bytes_ = bytes;
    return Err::success;
}

void RangeLock::release() {
    if (fd_ >= 0) lock_command(fd_, F_UNLCK, from_, bytes_);
    fd_ = -1;
}

} // namespace zipmpi::core::io
