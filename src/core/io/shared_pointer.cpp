// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/io/shared_pointer.hpp"

#include "core/io/posix_file.hpp"
#include "core/runtime_state.hpp"
#include "proto/coll/coll.hpp"
#include "proto/coll/shm/coll_memory.hpp"
#include "proto/p2p/progress_engine.hpp"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

namespace zipmpi::core::io {
namespace {

constexpr uint64_t word_bytes = 64; // a separate cache line

bool on_one_node(const proto::Team& team) {
    for (int r = 0; r < team.size; ++r)
        if (!progress_engine().peers().on_this_node(team.map.world(r))) return false;
    return true;
}

std::atomic<int64_t>& word_at(uint64_t offset) {
    return *reinterpret_cast<std::atomic<int64_t>*>(progress_engine().shm().segment().coll_memory(offset));
}

// Sent by rank 0 to the others: offset in the node segment, or suffix of the hidden file's name.
struct PointerInfo {
    uint64_t word_offset;
    uint64_t suffix;
};

PointerInfo make_pointer_info(bool one_node) {
    PointerInfo a{};
    if (one_node)
        a.word_offset = proto::coll::allocate_coll_memory(progress_engine().shm().segment(), word_bytes);
    if (a.word_offset != 0) word_at(a.word_offset).store(0, std::memory_order_relaxed);
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    a.suffix = static_cast<uint64_t>(now.tv_sec) << 32 ^ static_cast<uint64_t>(now.tv_nsec) << 8 ^
               static_cast<uint64_t>(getpid());
    return a;
}

std::string hidden_name(const std::string& file, uint64_t suffix) {
    const size_t slash = file.rfind('/');
    const size_t start = slash == std::string::npos ? 0 : slash + 1;
    char end[40];
    std::snprintf(end, sizeof end, ".pointer-%016" PRIx64, suffix);
    return file.substr(0, start) + "." + file.substr(start) + end;
}

} // namespace

Err SharedPointer::open(proto::Team& team, const std::string& file_name) {
    if (team.size == 1) return Err::success;
    const bool one_node = on_one_node(team);
    PointerInfo a{};
    if (team.rank == 0) a = make_pointer_info(one_node);
    if (const Err e = proto::coll::broadcast(team, &a, sizeof a, 0); e != Err::success) return e;
    word_offset_ = a.word_offset;
    if (word_offset_ == 0) path_ = hidden_name(file_name, a.suffix);
    return Err::success;
}

void SharedPointer::close(const proto::Team& team) {
    fd_.reset();
    if (team.rank != 0) return;
    if (!path_.empty()) ::unlink(path_.c_str());
    if (word_offset_ != 0)
        proto::coll::free_coll_memory(progress_engine().shm().segment(), word_offset_, word_bytes);
}

template <class Change>
Err SharedPointer::update_file(const Change& change) {
    if (!fd_) fd_.reset(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
    if (!fd_) return system_error("keep the shared file pointer in", path_.c_str());
    RangeLock lock;
    if (const Err e = lock.acquire(fd_.get(), 0, sizeof(int64_t), true); e != Err::success) return e;
    int64_t value = 0; // value of an empty file
    if (::pread(fd_.get(), &value, sizeof value, 0) < 0) return system_error("read", path_.c_str());
    const int64_t changed = change(value);
    if (changed == value) return Err::success;
    if (::pwrite(fd_.get(), &changed, sizeof changed, 0) != sizeof changed)
        return system_error("write", path_.c_str());
    return Err::success;
}

Err SharedPointer::add(int64_t etypes, int64_t& before) {
    if (word_offset_ != 0) {
        before = word_at(word_offset_).fetch_add(etypes, std::memory_order_acq_rel);
    } else if (!path_.empty()) {
        return update_file([&](int64_t value) {
            before = value;
            return value + etypes;
        });
    } else {
        before = local_value_;
        local_value_ += etypes;
    }
    return Err::success;
}

Err SharedPointer::set(int64_t etypes) {
    if (word_offset_ != 0)
        word_at(word_offset_).store(etypes, std::memory_order_release);
    else if (!path_.empty())
        return update_file([&](int64_t) { return etypes; });
    else
        local_value_ = etypes;
    return Err::success;
}

} // namespace zipmpi::core::io
