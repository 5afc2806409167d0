// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/placement/cpu_claims.hpp"

#include <algorithm>
#include <ctime>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

// Locked bytes; they need not exist. The file contents hold the job number of the owner of each CPU.
constexpr uint64_t max_cpus = 1U << 14;
constexpr uint64_t own_base = 0, lent_base = max_cpus, present_byte = 2 * max_cpus,
                   turn_byte = present_byte + 1, ranks_base = turn_byte + 1;
constexpr uint64_t ranks_per_cpu = 1U << 16;         // locked bytes for each CPU from ranks_base on
constexpr off_t unused_offset = off_t{max_cpus} * 8; // behind the job numbers
constexpr int open_tries = 16;                       // the file may be in removal
constexpr int enter_tries = 500;
constexpr int place_tries = 1000;             // holders on one CPU; ranks of further ones are not counted
constexpr timespec between_tries{0, 100'000}; // 0.1 ms

struct flock lock_region(uint64_t first, uint64_t count, short type) {
    struct flock l {};
    l.l_type = type;
    l.l_whence = SEEK_SET;
    l.l_start = static_cast<off_t>(first);
    l.l_len = static_cast<off_t>(count);
    return l;
}

bool is_private_file(int fd, struct stat& s) {
    return fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid() && (s.st_mode & 077) == 0;
}

struct ByteRange {
    uint64_t begin = 0, end = 0;
    [[nodiscard]] uint64_t size() const { return end - begin; }
};

// A lock of another holder in this range, cut to it; empty if there is none.
ByteRange find_lock(int fd, ByteRange in) {
    struct flock l = lock_region(in.begin, in.size(), F_WRLCK);
    if (in.size() == 0 || fcntl(fd, F_OFD_GETLK, &l) != 0 || l.l_type == F_UNLCK) return {};
    const auto begin = static_cast<uint64_t>(l.l_start);
    const uint64_t end = l.l_len == 0 ? in.end : begin + static_cast<uint64_t>(l.l_len);
    return {std::max(begin, in.begin), std::min(end, in.end)};
}

// Calls visit(range) for the locks of other holders in this range until it returns false. The kernel reports
// any one lock in a range: further ones may be on both sides of it.
template <class Visit>
void visit_locks(int fd, ByteRange in, const Visit& visit) {
    std::vector<ByteRange> left = {in};
    while (!left.empty()) {
        const ByteRange searched = left.back();
        left.pop_back();
        const ByteRange found = find_lock(fd, searched);
        if (found.size() == 0) continue;
        if (!visit(found)) return;
        left.push_back({searched.begin, found.begin});
        left.push_back({found.end, searched.end});
    }
}

// While a lock on the present byte is held, no other process removes the file: the result stays valid.
bool is_linked(int fd) {
    struct stat s {};
    return fstat(fd, &s) == 0 && s.st_nlink > 0;
}

} // namespace

std::string claims_path() { return "/dev/shm/zipmpi-cpus-" + std::to_string(geteuid()); }

void remove_unused_claims(const std::string& path) {
    const os::Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    struct stat s {};
    if (!fd || !is_private_file(fd.get(), s)) return;
    struct flock exclusive = lock_region(present_byte, 1, F_WRLCK);
    if (fcntl(fd.get(), F_OFD_SETLK, &exclusive) == 0 && is_linked(fd.get())) unlink(path.c_str());
}

void CpuClaims::close() {
    if (!fd_) return;
    release_all();
    if (set_lock(present_byte, 1, F_WRLCK) && is_linked(fd_.get())) unlink(path_.c_str());
    fd_.reset();
}

bool CpuClaims::set_lock(uint64_t first, uint64_t count, short type) const {
    struct flock l = lock_region(first, count, type);
    return fcntl(fd_.get(), F_OFD_SETLK, &l) == 0;
}

bool CpuClaims::open(const std::string& path, uint64_t job) {
    path_ = path;
    job_ = job;
    for (int i = 0; i < open_tries; ++i) {
        fd_.reset(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
        struct stat s {};
        if (!fd_ || !is_private_file(fd_.get(), s)) break;
        // A lock on this byte keeps the file from being removed, unless that has happened in between.
        if (set_lock(present_byte, 1, F_RDLCK) && is_linked(fd_.get())) return true;
        nanosleep(&between_tries, nullptr);
    }
    fd_.reset();
    return false;
}

CpuList CpuClaims::locked_cpus(uint64_t base) const {
    CpuList cpus;
    visit_locks(fd_.get(), {base, base + max_cpus}, [&](ByteRange r) {
        for (uint64_t at = r.begin; at < r.end; ++at) cpus.push_back(static_cast<int>(at - base));
        return true;
    });
    std::sort(cpus.begin(), cpus.end());
    return cpus;
}

CpuClaims::OtherClaims CpuClaims::other_claims() const {
    OtherClaims found;
    if (!fd_) return found;
    found.own = locked_cpus(own_base);
    found.lent = locked_cpus(lent_base);
    for (const int cpu : found.own) {
        uint64_t job = 0;
        if (pread(fd_.get(), &job, sizeof job, off_t{cpu} * 8) == sizeof job && job == job_)
            found.siblings.push_back(cpu);
    }
    return found;
}

void CpuClaims::begin_update() {
    for (int i = 0; fd_ && i < enter_tries && !set_lock(turn_byte, 1, F_WRLCK); ++i)
        nanosleep(&between_tries, nullptr);
}

void CpuClaims::end_update() {
    if (fd_) set_lock(turn_byte, 1, F_UNLCK);
}

bool CpuClaims::claim(CpuList cpus, int& conflict) {
    if (!fd_) return true;
    std::sort(cpus.begin(),
              cpus.end()); // ascending, so that two claimants of the same CPUs conflict at the first one
    cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
    for (const int cpu : cpus) {
        if (set_lock(own_base + static_cast<uint64_t>(cpu), 1, F_WRLCK)) continue;
        conflict = cpu;
        set_lock(own_base, max_cpus, F_UNLCK);
        return false;
    }
    write_owner(cpus);
    return true;
}

bool CpuClaims::claim_one(int cpu) {
    if (!fd_) return true;
    if (!set_lock(own_base + static_cast<uint64_t>(cpu), 1, F_WRLCK)) return false;
    write_owner({cpu});
    return true;
}

// Writes the owner, which also wakes watchers. If the write fails, the lock still holds.
void CpuClaims::write_owner(const CpuList& cpus) const {
    for (const CpuRun& run : cpu_runs(cpus)) {
        const std::vector<uint64_t> jobs(run.count, job_);
        [[maybe_unused]] const ssize_t n =
            pwrite(fd_.get(), jobs.data(), run.count * sizeof jobs[0], off_t{run.first} * 8);
    }
}

CpuList CpuClaims::borrow(const CpuList& cpus) {
    if (!fd_) return cpus;
    CpuList got;
    for (const int cpu : cpus)
        if (set_lock(lent_base + static_cast<uint64_t>(cpu), 1, F_WRLCK)) got.push_back(cpu);
    return got;
}

void CpuClaims::release_borrowed() {
    if (fd_) set_lock(lent_base, max_cpus, F_UNLCK);
}

void CpuClaims::release_all() {
    if (fd_) set_lock(own_base, 2 * max_cpus, F_UNLCK);
}

// Locks `count` bytes behind those that others have locked in [first, end).
void CpuClaims::lock_free_bytes(uint64_t first, uint64_t end, uint64_t count) const {
    for (int i = 0; i < place_tries && first + count <= end; ++i) {
        if (set_lock(first, count, F_WRLCK)) return;
        const ByteRange taken = find_lock(fd_.get(), {first, first + count});
        if (taken.size() > 0) first = taken.end;
    }
}

void CpuClaims::announce_ranks(uint32_t ranks, const CpuList& cpus) {
    if (!fd_) return;
    set_lock(ranks_base, max_cpus * ranks_per_cpu, F_UNLCK);
    if (ranks == 0) return;
    for (size_t i = 0; i < std::min<size_t>(cpus.size(), ranks); ++i) {
        const uint64_t first = ranks_base + static_cast<uint64_t>(cpus[i]) * ranks_per_cpu;
        const uint64_t rest = i < ranks % cpus.size() ? 1 : 0;
        lock_free_bytes(first, first + ranks_per_cpu, ranks / cpus.size() + rest);
    }
    [[maybe_unused]] const ssize_t n = pwrite(fd_.get(), "", 1, unused_offset); // wakes watchers
}

uint32_t CpuClaims::count_others(const CpuList& cpus, uint32_t limit) const {
    uint64_t count = 0;
    const auto add = [&](ByteRange r) { return (count += r.size()) < limit; };
    for (const CpuRun& run : cpu_runs(cpus)) {
        if (!fd_ || count >= limit) break;
        const auto first = static_cast<uint64_t>(run.first), end = first + run.count;
        visit_locks(fd_.get(), {own_base + first, own_base + end}, add);
        if (count < limit)
            visit_locks(fd_.get(), {ranks_base + first * ranks_per_cpu, ranks_base + end * ranks_per_cpu},
                        add);
    }
    return static_cast<uint32_t>(std::min<uint64_t>(count, limit));
}

int CpuClaims::watch_fd() {
    if (!fd_ || inotify_) return inotify_.get();
    inotify_.reset(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    if (inotify_ && inotify_add_watch(inotify_.get(), path_.c_str(), IN_MODIFY | IN_CLOSE_WRITE) < 0)
        inotify_.reset();
    return inotify_.get();
}

bool CpuClaims::has_changed() {
    char events[4096];
    bool any = false;
    while (inotify_ && read(inotify_.get(), events, sizeof events) > 0) any = true;
    return any;
}

} // namespace zipmpi::launch
