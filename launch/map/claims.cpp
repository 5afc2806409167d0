// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/map/claims.hpp"

#include <algorithm>
#include <ctime>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

// Bytes that are locked; they need not exist. The file itself holds the number of the job that owns a CPU.
constexpr uint64_t most_cpus = 1U << 14;
constexpr uint64_t own_base = 0, lent_base = most_cpus, present_byte = 2 * most_cpus,
                   turn_byte = present_byte + 1;
constexpr int open_tries = 16; // a file that is just being removed
constexpr int enter_tries = 500;
constexpr timespec between_tries{0, 100'000}; // a tenth of a millisecond

struct flock region(uint64_t first, uint64_t count, short type) {
    struct flock l {};
    l.l_type = type;
    l.l_whence = SEEK_SET;
    l.l_start = static_cast<off_t>(first);
    l.l_len = static_cast<off_t>(count);
    return l;
}

bool is_ours(int fd, struct stat& s) {
    return fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid() && (s.st_mode & 077) == 0;
}

// While a lock on the present byte is held nobody else removes the file: the answer stays true.
bool is_still_there(int fd) {
    struct stat s {};
    return fstat(fd, &s) == 0 && s.st_nlink > 0;
}

} // namespace

std::string claims_path() { return "/dev/shm/zipmpi-cpus-" + std::to_string(geteuid()); }

void remove_unused_claims(const std::string& path) {
    const os::Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    struct stat s {};
    if (!fd || !is_ours(fd.get(), s)) return;
    struct flock alone = region(present_byte, 1, F_WRLCK);
    if (fcntl(fd.get(), F_OFD_SETLK, &alone) == 0 && is_still_there(fd.get())) unlink(path.c_str());
}

void CpuClaims::close() {
    if (!fd_) return;
    give_back();
    if (lock(present_byte, 1, F_WRLCK) && is_still_there(fd_.get())) unlink(path_.c_str());
    fd_.reset();
}

bool CpuClaims::lock(uint64_t first, uint64_t count, short type) const {
    struct flock l = region(first, count, type);
    return fcntl(fd_.get(), F_OFD_SETLK, &l) == 0;
}

bool CpuClaims::open(const std::string& path, uint64_t job) {
    path_ = path;
    job_ = job;
    for (int i = 0; i < open_tries; ++i) {
        fd_.reset(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
        struct stat s {};
        if (!fd_ || !is_ours(fd_.get(), s)) break;
        // Who holds this byte keeps the file from being removed, unless that has happened in between.
        if (lock(present_byte, 1, F_RDLCK) && is_still_there(fd_.get())) return true;
        nanosleep(&between_tries, nullptr);
    }
    fd_.reset();
    return false;
}

// The kernel tells one lock of others in a region, no matter which: the rest may be on both sides of it.
CpuList CpuClaims::locked(uint64_t base) const {
    CpuList cpus;
    std::vector<std::pair<uint64_t, uint64_t>> regions = {{base, base + most_cpus}};
    while (!regions.empty()) {
        const auto [begin, end] = regions.back();
        regions.pop_back();
        struct flock l = region(begin, end - begin, F_WRLCK);
        if (begin >= end || fcntl(fd_.get(), F_OFD_GETLK, &l) != 0 || l.l_type == F_UNLCK) continue;
        const auto first = std::max(static_cast<uint64_t>(l.l_start), begin);
        const uint64_t last = l.l_len == 0 ? end : std::min(static_cast<uint64_t>(l.l_start + l.l_len), end);
        for (uint64_t at = first; at < last; ++at) cpus.push_back(static_cast<int>(at - base));
        regions.emplace_back(begin, first);
        regions.emplace_back(last, end);
    }
    std::sort(cpus.begin(), cpus.end());
    return cpus;
}

CpuClaims::Others CpuClaims::others() const {
    Others found;
    if (!fd_) return found;
    found.own = locked(own_base);
    found.lent = locked(lent_base);
    for (const int cpu : found.own) {
        uint64_t job = 0;
        if (pread(fd_.get(), &job, sizeof job, off_t{cpu} * 8) == sizeof job && job == job_)
            found.siblings.push_back(cpu);
    }
    return found;
}

void CpuClaims::enter() {
    for (int i = 0; fd_ && i < enter_tries && !lock(turn_byte, 1, F_WRLCK); ++i)
        nanosleep(&between_tries, nullptr);
}

void CpuClaims::leave() {
    if (fd_) lock(turn_byte, 1, F_UNLCK);
}

bool CpuClaims::take(CpuList cpus, int& conflict) {
    if (!fd_) return true;
    std::sort(cpus.begin(), cpus.end()); // two that want the same ones meet at the first of them
    cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
    for (const int cpu : cpus) {
        if (lock(own_base + static_cast<uint64_t>(cpu), 1, F_WRLCK)) continue;
        conflict = cpu;
        lock(own_base, most_cpus, F_UNLCK);
        return false;
    }
    note(cpus);
    return true;
}

bool CpuClaims::add(int cpu) {
    if (!fd_) return true;
    if (!lock(own_base + static_cast<uint64_t>(cpu), 1, F_WRLCK)) return false;
    note({cpu});
    return true;
}

// Says whose they are, which also wakes those who watch. If it fails, the lock still holds.
void CpuClaims::note(const CpuList& cpus) const {
    for (const CpuRun& run : runs_in(cpus)) {
        const std::vector<uint64_t> jobs(run.count, job_);
        [[maybe_unused]] const ssize_t n =
            pwrite(fd_.get(), jobs.data(), run.count * sizeof jobs[0], off_t{run.first} * 8);
    }
}

CpuList CpuClaims::borrow(const CpuList& cpus) {
    if (!fd_) return cpus;
    CpuList got;
    for (const int cpu : cpus)
        if (lock(lent_base + static_cast<uint64_t>(cpu), 1, F_WRLCK)) got.push_back(cpu);
    return got;
}

void CpuClaims::give_back_lent() {
    if (fd_) lock(lent_base, most_cpus, F_UNLCK);
}

void CpuClaims::give_back() {
    if (fd_) lock(own_base, 2 * most_cpus, F_UNLCK);
}

int CpuClaims::watch() {
    if (!fd_ || notes_) return notes_.get();
    notes_.reset(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    if (notes_ && inotify_add_watch(notes_.get(), path_.c_str(), IN_MODIFY | IN_CLOSE_WRITE) < 0)
        notes_.reset();
    return notes_.get();
}

bool CpuClaims::changed() {
    char notes[4096];
    bool any = false;
    while (notes_ && read(notes_.get(), notes, sizeof notes) > 0) any = true;
    return any;
}

} // namespace zipmpi::launch
