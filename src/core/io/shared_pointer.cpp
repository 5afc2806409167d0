// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/io/shared_pointer.hpp"

#include "core/io/store.hpp"
#include "core/state.hpp"
#include "proto/coll/coll.hpp"
#include "proto/coll/shm/area.hpp"
#include "proto/p2p/lane.hpp"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

namespace zipmpi::core::io {
namespace {

constexpr uint64_t board_bytes = 64; // a line of its own

bool on_one_node(const proto::Team& team) {
    for (int r = 0; r < team.size; ++r)
        if (!lane().on_this_node(team.map.world(r))) return false;
    return true;
}

std::atomic<int64_t>& word_at(uint64_t offset) {
    return *reinterpret_cast<std::atomic<int64_t>*>(lane().shm().segment().board(offset));
}

// What the first process tells the others: where in the node's memory it is, or what the hidden file's name
// ends with.
struct Announcement {
    uint64_t board;
    uint64_t mark;
};

Announcement announcement(bool one_node) {
    Announcement a{};
    if (one_node) a.board = proto::coll::take_board_memory(lane().shm().segment(), board_bytes);
    if (a.board != 0) word_at(a.board).store(0, std::memory_order_relaxed);
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    a.mark = static_cast<uint64_t>(now.tv_sec) << 32 ^ static_cast<uint64_t>(now.tv_nsec) << 8 ^
             static_cast<uint64_t>(getpid());
    return a;
}

std::string hidden_name(const std::string& file, uint64_t mark) {
    const size_t slash = file.rfind('/');
    const size_t start = slash == std::string::npos ? 0 : slash + 1;
    char end[40];
    std::snprintf(end, sizeof end, ".pointer-%016" PRIx64, mark);
    return file.substr(0, start) + "." + file.substr(start) + end;
}

} // namespace

Err SharedPointer::open(proto::Team& team, const std::string& file_name) {
    if (team.size == 1) return Err::success;
    const bool one_node = on_one_node(team);
    Announcement a{};
    if (team.rank == 0) a = announcement(one_node);
    if (const Err e = proto::coll::broadcast(team, &a, sizeof a, 0); e != Err::success) return e;
    board_ = a.board;
    if (board_ == 0) path_ = hidden_name(file_name, a.mark);
    return Err::success;
}

void SharedPointer::close(const proto::Team& team) {
    fd_.reset();
    if (team.rank != 0) return;
    if (!path_.empty()) ::unlink(path_.c_str());
    if (board_ != 0) proto::coll::give_board_memory_back(lane().shm().segment(), board_, board_bytes);
}

template <class Change>
Err SharedPointer::change_file(const Change& change) {
    if (!fd_) fd_.reset(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!fd_) return system_error("keep the shared file pointer in", path_.c_str());
    RangeLock lock;
    if (const Err e = lock.take(fd_.get(), 0, sizeof(int64_t), true); e != Err::success) return e;
    int64_t value = 0; // an empty file is one that nobody has changed
    if (::pread(fd_.get(), &value, sizeof value, 0) < 0) return system_error("read", path_.c_str());
    const int64_t changed = change(value);
    if (changed == value) return Err::success;
    if (::pwrite(fd_.get(), &changed, sizeof changed, 0) != sizeof changed)
        return system_error("write", path_.c_str());
    return Err::success;
}

Err SharedPointer::add(int64_t etypes, int64_t& before) {
    if (board_ != 0) {
        before = word_at(board_).fetch_add(etypes, std::memory_order_acq_rel);
    } else if (!path_.empty()) {
        return change_file([&](int64_t value) {
            before = value;
            return value + etypes;
        });
    } else {
        before = alone_;
        alone_ += etypes;
    }
    return Err::success;
}

Err SharedPointer::set(int64_t etypes) {
    if (board_ != 0)
        word_at(board_).store(etypes, std::memory_order_release);
    else if (!path_.empty())
        return change_file([&](int64_t) { return etypes; });
    else
        alone_ = etypes;
    return Err::success;
}

} // namespace zipmpi::core::io
