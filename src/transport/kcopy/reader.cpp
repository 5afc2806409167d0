// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/kcopy/reader.hpp"

#include "base/param.hpp"
#include "os/memory_checker.hpp"
#include "os/process_memory.hpp"

#include <cerrno>
#include <sys/random.h>
#include <unistd.h>

namespace zipmpi::transport::kcopy {
namespace {

Param<bool> use{"kcopy.use", true, Level::user, Scope::local,
                "receive large messages by a single copy through the kernel where it allows that"};

// valgrind takes what others write into a process for uninitialised: nobody writes into one that says by this
// bit of its number that it runs under valgrind. It reads what it receives itself.
constexpr uint64_t writes_itself = 1;

bool takes_writes(const wire::RankBlock& block) {
    return (block.probe_number.load(std::memory_order_relaxed) & writes_itself) == 0;
}

} // namespace

Reader::Reader(const boot::NodeSegment& segment, uint32_t self)
    : segment_(segment)
    , own_number_(0)
    , states_(segment.local_ranks(), use ? State::unknown : State::refused) {
    if (getrandom(&own_number_, sizeof own_number_, GRND_NONBLOCK) != sizeof own_number_)
        own_number_ = static_cast<uint64_t>(getpid()) * 0x9e3779b97f4a7c15U;
    own_number_ = (own_number_ & ~writes_itself) | (os::under_valgrind() ? writes_itself : 0);
    wire::RankBlock& block = segment.block(self);
    block.probe_number.store(own_number_, std::memory_order_relaxed);
    // Pairs with the acquire load in probe().
    block.probe_address.store(reinterpret_cast<uint64_t>(&own_number_), std::memory_order_release);
    os::allow_reading_by_others();
}

bool Reader::probe(Peer from) const {
    const wire::RankBlock& block = segment_.block(from);
    const uint64_t address = block.probe_address.load(std::memory_order_acquire);
    uint64_t number = 0;
    return address != 0 &&
           os::read_process_memory(block.pid.load(std::memory_order_relaxed), address,
                                   reinterpret_cast<std::byte*>(&number), sizeof number) &&
           number == block.probe_number.load(std::memory_order_relaxed);
}

bool Reader::works_with(Peer from) {
    State& state = states_[from];
    if (state == State::unknown) state = probe(from) ? State::works : State::refused;
    return state == State::works;
}

bool Reader::still_works(Peer from, bool copied) {
    if (!copied) states_[from] = State::refused;
    return copied;
}

bool Reader::read(Peer from, uint64_t address, std::byte* to, size_t bytes) {
    if (!works_with(from)) return false;
    const pid_t pid = segment_.block(from).pid.load(std::memory_order_relaxed);
    return still_works(from, os::read_process_memory(pid, address, to, bytes));
}

bool Reader::read(Peer from, uint64_t address, const iovec* pieces, size_t count, size_t bytes) {
    if (!works_with(from)) return false;
    const pid_t pid = segment_.block(from).pid.load(std::memory_order_relaxed);
    return still_works(from, os::read_process_memory(pid, address, pieces, count, bytes));
}

bool Reader::read(Peer from, const iovec* there, size_t count_there, const iovec* here, size_t count_here,
                  size_t bytes) {
    if (!works_with(from)) return false;
    const pid_t pid = segment_.block(from).pid.load(std::memory_order_relaxed);
    return still_works(from, os::read_process_memory(pid, there, count_there, here, count_here, bytes));
}

bool Reader::writes_to(Peer to) {
    if (!writes_refused_ && works_with(to) && takes_writes(segment_.block(to))) return true;
    errno = EPERM;
    return false;
}

bool Reader::write(Peer to, uint64_t address, const std::byte* from, size_t bytes) {
    if (!writes_to(to)) return false;
    const pid_t pid = segment_.block(to).pid.load(std::memory_order_relaxed);
    writes_refused_ = !os::write_process_memory(pid, address, from, bytes);
    return !writes_refused_;
}

Reader::Result Reader::read_pieces(Peer from, const iovec* here, size_t here_count, const iovec* there,
                                   size_t there_count, size_t bytes) {
    const pid_t pid = segment_.block(from).pid.load(std::memory_order_relaxed);
    if (os::read_process_memory(pid, there, there_count, here, here_count, bytes)) return Result::copied;
    return errno == EFAULT ? Result::no_such_memory : Result::refused;
}

Reader::Result Reader::write_pieces(Peer to, const iovec* here, size_t here_count, const iovec* there,
                                    size_t there_count, size_t bytes) {
    const pid_t pid = segment_.block(to).pid.load(std::memory_order_relaxed);
    if (os::write_process_memory(pid, there, there_count, here, here_count, bytes)) return Result::copied;
    return errno == EFAULT ? Result::no_such_memory : Result::refused;
}

bool Reader::reads_and_writes(Peer peer) { return writes_to(peer) && os::can_write_process_memory(); }

bool Reader::write(Peer to, const iovec* there, size_t count_there, const iovec* here, size_t count_here,
                   size_t bytes) {
    if (!writes_to(to)) return false;
    const pid_t pid = segment_.block(to).pid.load(std::memory_order_relaxed);
    writes_refused_ = !os::write_process_memory(pid, there, count_there, here, count_here, bytes);
    return !writes_refused_;
}

} // namespace zipmpi::transport::kcopy
