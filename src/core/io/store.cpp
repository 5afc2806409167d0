// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/io/store.hpp"

#include "core/datatype/contiguous.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace zipmpi::core::io {
namespace {

constexpr uint64_t long_piece = 64 << 10;  // moves without a copy
constexpr int64_t joined_most = 4 << 20;   // bytes that move as one
constexpr int64_t read_gap_most = 2 << 10; // between pieces that are read as one: a call costs more
constexpr int64_t write_gap_most = 4 << 10;

int64_t end_of(const Piece& p) { return p.at + static_cast<int64_t>(p.bytes); }

// All bytes but those behind the end of the file. -1: errno says why.
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

// Pieces that move as one.
struct Bundle {
    size_t pieces = 1;
    int64_t from = 0;
    int64_t end = 0;
    bool gaps = false;
    [[nodiscard]] int64_t bytes() const { return end - from; }
};

Bundle first_bundle(Pieces pieces, int64_t gap_most) {
    Bundle g{1, pieces[0].at, end_of(pieces[0]), false};
    if (pieces[0].bytes >= long_piece) return g;
    for (const Piece& p : pieces.subspan(1)) {
        if (p.bytes >= long_piece || p.at - g.end > gap_most || end_of(p) - g.from > joined_most) break;
        g.gaps = g.gaps || p.at > g.end;
        g.end = std::max(g.end, end_of(p));
        ++g.pieces;
    }
    return g;
}

// Memory for bundles, taken when the first one needs it.
class Joint {
  public:
    std::byte* get() {
        if (memory_ == nullptr) memory_ = make_bytes(joined_most);
        return static_cast<std::byte*>(memory_.get());
    }

  private:
    Bytes memory_;
};

Err cannot_read() { return system_error("read", "the file"); }
Err cannot_write() { return system_error("write", "the file"); }

Err read_bundle(int fd, Pieces pieces, const Bundle& g, std::byte* joint, int64_t& end) {
    std::byte* const to = g.pieces == 1 ? pieces[0].data : joint;
    const int64_t got = read_fully(fd, to, g.bytes(), g.from);
    if (got < 0) return cannot_read();
    if (got < g.bytes()) end = g.from + got;
    for (const Piece& p : pieces.first(g.pieces)) {
        const int64_t there = std::min<int64_t>(end_of(p), g.from + got) - p.at;
        if (g.pieces > 1 && there > 0)
            std::memcpy(p.data, joint + (p.at - g.from), static_cast<size_t>(there));
    }
    return Err::success;
}

Err write_bundle(int fd, Pieces pieces, const Bundle& g, std::byte* joint) {
    if (g.pieces == 1)
        return write_fully(fd, pieces[0].data, g.bytes(), g.from) ? Err::success : cannot_write();
    RangeLock lock;
    if (g.gaps) {
        if (const Err e = lock.take(fd, g.from, g.bytes(), true); e != Err::success) return e;
        const int64_t got = read_fully(fd, joint, g.bytes(), g.from);
        if (got < 0) return cannot_read();
        std::memset(joint + got, 0, static_cast<size_t>(g.bytes() - got));
    }
    for (const Piece& p : pieces.first(g.pieces)) std::memcpy(joint + (p.at - g.from), p.data, p.bytes);
    return write_fully(fd, joint, g.bytes(), g.from) ? Err::success : cannot_write();
}

struct Meaning {
    int number;
    Err error;
    const char* todo;
};
constexpr Meaning meanings[] = {
    {ENOENT, Err::no_such_file, "pass the name of a file that exists, or MPI_MODE_CREATE"},
    {EACCES, Err::access, "ask for what the file's permissions allow"},
    {EPERM, Err::access, "ask for what the file's permissions allow"},
    {EROFS, Err::read_only, "open the file with MPI_MODE_RDONLY"},
    {EEXIST, Err::file_exists, "remove the file, or leave out MPI_MODE_EXCL"},
    {ENAMETOOLONG, Err::bad_file, "pass a shorter name"},
    {ENOTDIR, Err::bad_file, "pass the name of a file in a folder that exists"},
    {EISDIR, Err::bad_file, "pass the name of a file, not of a folder"},
    {ELOOP, Err::bad_file, "look at the links in the path"},
    {ENOSPC, Err::no_space, "make room on the file system"},
    {EDQUOT, Err::quota, "make room in your quota"},
    {EFBIG, Err::no_space, "write smaller files"},
    {ETXTBSY, Err::file_in_use, "end the program that runs from this file"},
    {ENOMEM, Err::no_mem, "free memory"},
};

} // namespace

Err system_error(const char* what, const char* name) {
    const int number = errno;
    for (const Meaning& m : meanings)
        if (m.number == number)
            return fail(m.error, m.todo, "could not %s %s: %s", what, name, std::strerror(number));
    return fail(Err::io, "look at the file system", "could not %s %s: %s", what, name, std::strerror(number));
}

Err read_pieces(int fd, Pieces pieces, int64_t& end) {
    Joint joint;
    end = not_reached;
    while (!pieces.empty() && end == not_reached) {
        const Bundle g = first_bundle(pieces, read_gap_most);
        std::byte* const memory = g.pieces > 1 ? joint.get() : nullptr;
        if (g.pieces > 1 && memory == nullptr) return no_bytes(joined_most);
        if (const Err e = read_bundle(fd, pieces, g, memory, end); e != Err::success) return e;
        pieces = pieces.subspan(g.pieces);
    }
    return Err::success;
}

Err write_pieces(int fd, Pieces pieces, Gaps gaps) {
    Joint joint;
    while (!pieces.empty()) {
        const Bundle g = first_bundle(pieces, gaps == Gaps::fill ? write_gap_most : 0);
        std::byte* const memory = g.pieces > 1 ? joint.get() : nullptr;
        if (g.pieces > 1 && memory == nullptr) return no_bytes(joined_most);
        if (const Err e = write_bundle(fd, pieces, g, memory); e != Err::success) return e;
        pieces = pieces.subspan(g.pieces);
    }
    return Err::success;
}

namespace {

// Locks of an open file, not of the process: closing another descriptor of the same file keeps them.
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

Err RangeLock::take(int fd, int64_t from, int64_t bytes, bool exclusive) {
    int result = 0;
    do result = lock_command(fd, exclusive ? F_WRLCK : F_RDLCK, from, bytes);
    while (result != 0 && errno == EINTR);
    if (result != 0) return system_error("lock", "a part of the file");
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
