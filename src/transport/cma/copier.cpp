// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/cma/copier.hpp"

#include "base/param.hpp"
#include "os/memory_checker.hpp"
#include "os/process_memory.hpp"

#include <cerrno>
#include <sys/random.h>
#include <unistd.h>

namespace zipmpi::transport::cma {
namespace {

Param<bool> use{"cma.enable", true, Level::user, Scope::local,
                "copy between processes of a node by CMA (process_vm_readv, process_vm_writev) where the "
                "kernel permits it"};

// valgrind treats memory written by other processes as uninitialized. A process under valgrind sets this bit
// of its cookie; peers then do not write into it, and it reads what it receives.
constexpr uint64_t refuses_writes = 1;

bool accepts_writes(const wire::RankBlock& block) {
    return (block.probe_number.load(std::memory_order_relaxed) & refuses_writes) == 0;
}

} // namespace

Copier::Copier(const segment::NodeSegment& segment, uint32_t self)
    : segment_(segment)
    , cookie_(0)
    , states_(segment.local_ranks()) {
    if (getrandom(&cookie_, sizeof cookie_, GRND_NONBLOCK) != sizeof cookie_)
        cookie_ = static_cast<uint64_t>(getpid()) * 0x9e3779b97f4a7c15U;
    cookie_ = (cookie_ & ~refuses_writes) | (os::under_valgrind() ? refuses_writes : 0);
    wire::RankBlock& block = segment.block(self);
    block.probe_number.store(cookie_, std::memory_order_relaxed);
    // Pairs with the acquire load in probe().
    block.probe_address.store(reinterpret_cast<uint64_t>(&cookie_), std::memory_order_release);
    os::allow_ptrace_reads();
}

bool Copier::probe(Peer from) const {
    const wire::RankBlock& block = segment_.block(from);
    const uint64_t address = block.probe_address.load(std::memory_order_acquire);
    uint64_t number = 0;
    return address != 0 &&
           os::read_process_memory(block.pid.load(std::memory_order_relaxed), address,
                                   reinterpret_cast<std::byte*>(&number), sizeof number) &&
           number == block.probe_number.load(std::memory_order_relaxed);
}

bool Copier::can_read(Peer from) {
    State& state = states_[from];
    if (state == State::unknown) state = use && probe(from) ? State::allowed : State::refused;
    return state == State::allowed;
}

bool Copier::record_result(Peer from, bool copied) {
    if (!copied) states_[from] = State::refused;
    return copied;
}

bool Copier::read(Peer from, uint64_t address, std::byte* to, size_t bytes) {
    if (!can_read(from)) return false;
    const pid_t pid = segment_.block(from).pid.load(std::memory_order_relaxed);
    return record_result(from, os::read_process_memory(pid, address, to, bytes));
}

bool Copier::read(Peer from, uint64_t address, const iovec* iov, size_t count, size_t bytes) {
    if (!can_read(from)) return false;
    const pid_t pid = segment_.block(from).pid.load(std::memory_order_relaxed);
    return record_result(from, os::read_process_memory(pid, address, iov, count, bytes));
}

bool Copier::read(Peer from, const iovec* there, size_t count_there, const iovec* here, size_t count_here,
                  size_t bytes) {
    if (!can_read(from)) return false;
    const pid_t pid = segment_.block(from).pid.load(std::memory_order_relaxed);
    return record_result(from, os::read_process_memory(pid, there, count_there, here, count_here, bytes));
}

bool Copier::can_write(Peer to) {
    if (!writes_refused_ && can_read(to) && accepts_writes(segment_.block(to))) return true;
    errno = EPERM;
    return false;
}

bool Copier::write(Peer to, uint64_t address, const std::byte* from, size_t bytes) {
    if (!can_write(to)) return false;
    const pid_t pid = segment_.block(to).pid.load(std::memory_order_relaxed);
    writes_refused_ = !os::write_process_memory(pid, address, from, bytes);
    return !writes_refused_;
}

Copier::Result Copier::readv(Peer from, const iovec* here, size_t here_count, const iovec* there,
                             size_t there_count, size_t bytes) {
    const pid_t pid = segment_.block(from).pid.load(std::memory_order_relaxed);
    if (os::read_process_memory(pid, there, there_count, here, here_count, bytes)) return Result::copied;
    return errno == EFAULT ? Result::no_such_memory : Result::refused;
}

Copier::Result Copier::writev(Peer to, const iovec* here, size_t here_count, const iovec* there,
                              size_t there_count, size_t bytes) {
    const pid_t pid = segment_.block(to).pid.load(std::memory_order_relaxed);
    if (os::write_process_memory(pid, there, there_count, here, here_count, bytes)) return Result::copied;
    return errno == EFAULT ? Result::no_such_memory : Result::refused;
}

bool Copier::can_read_and_write(Peer peer) { return can_write(peer) && os::can_write_process_memory(); }

bool Copier::write(Peer to, const iovec* there, size_t count_there, const iovec* here, size_t count_here,
                   size_t bytes) {
    if (!can_write(to)) return false;
    const pid_t pid = segment_.block(to).pid.load(std::memory_order_relaxed);
    writes_refused_ = !os::write_process_memory(pid, there, count_there, here, count_here, bytes);
    return !writes_refused_;
}

} // namespace zipmpi::transport::cma
