// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tune/pair_bench.hpp"

#include "os/clock.hpp"
#include "os/parent.hpp"
#include "os/process_memory.hpp"
#include "proto/p2p/chunks.hpp"
#include "wire/envelope.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zipmpi::tool {
namespace {

constexpr uint64_t cells_per_process = 64;
constexpr uint64_t cell_stride = (uint64_t{64} << 10) + wire::cache_line;
constexpr uint64_t lines_of_message = 1 + wire::max_extra_slots;

struct alignas(wire::cache_line) BenchSlot {
    std::atomic<uint64_t> sequence;
    std::byte bytes[56];
};

} // namespace

// Index 0: from the first process to the second.
struct SharedPage {
    BenchSlot slots[2][lines_of_message];
    BenchSlot reply[2];
    BenchSlot fragment[2][cells_per_process];
    BenchSlot busy[2][cells_per_process]; // head of a cell: cleared by the process that has copied it out
    BenchSlot offer[2];                   // set by the receiver of a cooperative copy
    wire::CoopCopySlot coop[2];           // of the receiver
    alignas(wire::cache_line) std::atomic<uint64_t> command;
    PathSample what;
    uint64_t round_trips;
    alignas(wire::cache_line) std::atomic<uint64_t> probed; // by the second process: 1 permitted, 2 denied
};

namespace {

std::byte* map_memory(uint64_t bytes, int sharing) {
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        throw std::runtime_error(std::string("no memory for the measurement: ") + strerror(errno));
    return static_cast<std::byte*>(at);
}

void pin_to(int cpu) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        throw std::runtime_error("a process cannot be bound to CPU " + std::to_string(cpu) + ": " +
                                 strerror(errno));
}

} // namespace

template <class Ready>
void PairBench::wait_until(Ready&& ready) const {
    constexpr uint32_t patience = 1U << 16; // then yield the CPU
    for (uint32_t turns = 1; !ready(); ++turns) {
        if (one_cpu_ || turns % patience == 0)
            sched_yield();
        else
            os::cpu_relax();
        if (turns % (patience * 64) == 0 && started_ && waitpid(other_, nullptr, WNOHANG) != 0)
            throw std::runtime_error("the second process of a pair has ended");
    }
}

PairBench::PairBench(int first, int second)
    : one_cpu_(first == second) {
    shared_ = reinterpret_cast<SharedPage*>(map_memory(sizeof(SharedPage), MAP_SHARED));
    cells_ = map_memory(2 * cells_per_process * cell_stride, MAP_SHARED);
    mapped_ = map_memory(4 * largest_message, MAP_SHARED);
    private_ = map_memory(2 * largest_message, MAP_PRIVATE);
    std::memset(mapped_, 1, 4 * largest_message);
    sched_getaffinity(0, sizeof saved_affinity_, &saved_affinity_);
    const pid_t parent = getpid();
    other_ = fork();
    if (other_ < 0)
        throw std::runtime_error(std::string("cannot start the second process: ") + strerror(errno));
    if (other_ == 0) os::die_with_parent(parent);
    os::allow_ptrace_reads();
    std::memset(private_, 1, 2 * largest_message); // private pages in each process
    if (other_ == 0) {
        other_ = parent;
        self_ = 1;
        try {
            pin_to(second);
            std::byte probe{};
            shared_->probed.store(read_other(&probe, private_, 1) ? 1 : 2, std::memory_order_release);
            serve();
        } catch (const std::exception&) {
        }
        _exit(1); // detected by the first process
    }
    started_ = true;
    pin_to(first);
    std::byte probe{};
    cma_works_ = read_other(&probe, private_, 1);
    wait_until([&] { return shared_->probed.load(std::memory_order_acquire) != 0; });
    cma_works_ = cma_works_ && shared_->probed.load(std::memory_order_relaxed) == 1;
}

PairBench::~PairBench() {
    if (started_) {
        kill(other_, SIGKILL);
        waitpid(other_, nullptr, 0);
        sched_setaffinity(0, sizeof saved_affinity_, &saved_affinity_);
    }
    munmap(shared_, sizeof(SharedPage));
    munmap(cells_, 2 * cells_per_process * cell_stride);
    munmap(mapped_, 4 * largest_message);
    munmap(private_, 2 * largest_message);
}

bool PairBench::read_other(std::byte* to, const std::byte* from, uint64_t bytes) const {
    return os::read_process_memory(other_, reinterpret_cast<uint64_t>(from), to, bytes);
}

void PairBench::wait_for(const std::atomic<uint64_t>& word, uint64_t value) const {
    wait_until([&] { return word.load(std::memory_order_acquire) == value; });
}

double PairBench::time(const PathSample& what, uint64_t round_trips) {
    shared_->what = what;
    shared_->round_trips = round_trips + 1;
    shared_->command.store(++commands_, std::memory_order_release);
    run(what, 1, true);
    const auto begin = os::now_ns();
    run(what, round_trips, true);
    return static_cast<double>(os::now_ns() - begin) / (2.0 * static_cast<double>(round_trips));
}

void PairBench::serve() {
    for (;;) {
        wait_for(shared_->command, ++commands_);
        run(shared_->what, shared_->round_trips, false);
    }
}

void PairBench::run(const PathSample& what, uint64_t round_trips, bool first) {
    for (uint64_t i = 0; i < round_trips; ++i) {
        if (first) send(what);
        receive(what);
        if (!first) send(what);
    }
}

// Two buffers per process: with `fresh` one serves for both directions.
std::byte* PairBench::target_of(const PathSample& what) const {
    return what.path == proto::MessagePath::arena ? mapped_ + uint64_t{2} * self_ * largest_message
                                                  : private_;
}

const std::byte* PairBench::source_of(const PathSample& what) const {
    return target_of(what) + (what.fresh ? 0 : largest_message);
}

void PairBench::send(const PathSample& what) {
    BenchSlot* line = shared_->slots[self_];
    const uint64_t number = ++sent_;
    switch (what.path) {
    case proto::MessagePath::inline_:
        std::memcpy(line->bytes, private_, wire::inline_max);
        return line->sequence.store(number, std::memory_order_release);
    case proto::MessagePath::multislot:
        for (uint64_t i = 0; i < lines_of_message; ++i) std::memcpy(line[i].bytes, private_ + 64 * i, 56);
        return line->sequence.store(number, std::memory_order_release);
    case proto::MessagePath::cell:
        std::memcpy(cells_ + self_ * cells_per_process * cell_stride, source_of(what), what.bytes);
        return line->sequence.store(number, std::memory_order_release);
    case proto::MessagePath::pipeline:
        line->sequence.store(number, std::memory_order_release);
        wait_for(shared_->reply[1 - self_].sequence, number);
        return send_fragments(what);
    case proto::MessagePath::cma:
    case proto::MessagePath::arena:
        line->sequence.store(number, std::memory_order_release);
        return wait_for(shared_->reply[1 - self_].sequence, number);
    case proto::MessagePath::coop:
        line->sequence.store(number, std::memory_order_release);
        send_coop(what, number);
        return wait_for(shared_->reply[1 - self_].sequence, number);
    }
}

void PairBench::receive(const PathSample& what) {
    const uint32_t other = 1 - self_;
    const BenchSlot* line = shared_->slots[other];
    const uint64_t number = ++received_;
    std::byte* const to = target_of(what);
    wait_for(line->sequence, number);
    const auto reply = [&] { shared_->reply[self_].sequence.store(number, std::memory_order_release); };
    switch (what.path) {
    case proto::MessagePath::inline_:
        std::memcpy(to, line->bytes, wire::inline_max);
        return;
    case proto::MessagePath::multislot:
        for (uint64_t i = 0; i < lines_of_message; ++i) std::memcpy(to + 64 * i, line[i].bytes, 56);
        return;
    case proto::MessagePath::cell:
        std::memcpy(to, cells_ + other * cells_per_process * cell_stride, what.bytes);
        return;
    case proto::MessagePath::pipeline:
        reply();
        return receive_fragments(what);
    case proto::MessagePath::cma:
        if (!read_other(to, source_of(what), what.bytes)) throw std::runtime_error("CMA is not permitted");
        return reply();
    case proto::MessagePath::arena: {
        const std::byte* from = mapped_ + (uint64_t{2} * other + (what.fresh ? 0 : 1)) * largest_message;
        std::memcpy(to, from, what.bytes);
        return reply();
    }
    case proto::MessagePath::coop:
        receive_coop(what, number);
        return reply();
    }
}

// As in proto/p2p/coop_copy.cpp, without its checks.
void PairBench::receive_coop(const PathSample& what, uint64_t number) {
    const uint64_t chunk_bytes = proto::chunk_bytes_for(what.bytes);
    const uint32_t chunks = proto::count_chunks(what.bytes, chunk_bytes);
    wire::CoopCopySlot& coop_slot = shared_->coop[self_];
    coop_slot.sender_chunks.store(0, std::memory_order_relaxed);
    coop_slot.taken.store(number << 32, std::memory_order_release);
    shared_->offer[self_].sequence.store(number, std::memory_order_release);
    uint32_t own_chunks = 0;
    for (uint32_t chunk = 0;
         proto::take_chunk(coop_slot, static_cast<uint32_t>(number), chunks, proto::ChunkEnd::front, chunk);
         ++own_chunks) {
        const uint64_t at = proto::chunk_offset(chunk_bytes, chunk);
        if (!read_other(target_of(what) + at, source_of(what) + at,
                        proto::chunk_length(what.bytes, chunk_bytes, chunk)))
            throw std::runtime_error("CMA is not permitted");
    }
    wait_until(
        [&] { return own_chunks + coop_slot.sender_chunks.load(std::memory_order_acquire) == chunks; });
}

void PairBench::send_coop(const PathSample& what, uint64_t number) {
    const uint32_t other = 1 - self_;
    wait_until([&] {
        return shared_->offer[other].sequence.load(std::memory_order_acquire) == number ||
               shared_->reply[other].sequence.load(std::memory_order_acquire) == number;
    });
    if (!os::can_write_process_memory()) return; // the receiver copies everything
    const uint64_t chunk_bytes = proto::chunk_bytes_for(what.bytes);
    const uint32_t chunks = proto::count_chunks(what.bytes, chunk_bytes);
    wire::CoopCopySlot& coop_slot = shared_->coop[other];
    for (uint32_t chunk = 0;
         proto::take_chunk(coop_slot, static_cast<uint32_t>(number), chunks, proto::ChunkEnd::back, chunk);) {
        const uint64_t at = proto::chunk_offset(chunk_bytes, chunk);
        if (!os::write_process_memory(other_, reinterpret_cast<uint64_t>(target_of(what) + at),
                                      source_of(what) + at,
                                      proto::chunk_length(what.bytes, chunk_bytes, chunk)))
            throw std::runtime_error("CMA is not permitted");
        coop_slot.sender_chunks.fetch_add(1, std::memory_order_release);
    }
}

void PairBench::send_fragments(const PathSample& what) {
    const uint64_t slots =
        std::clamp<uint64_t>(what.window_bytes / what.fragment_bytes, 1, cells_per_process);
    const std::byte* from = source_of(what);
    for (uint64_t done = 0, i = 0; done < what.bytes; done += what.fragment_bytes, ++i) {
        const uint64_t slot = i % slots;
        BenchSlot& busy = shared_->busy[self_][slot];
        wait_for(busy.sequence, 0);
        busy.sequence.store(1, std::memory_order_relaxed);
        std::memcpy(cells_ + (self_ * cells_per_process + slot) * cell_stride, from + done,
                    std::min(what.fragment_bytes, what.bytes - done));
        shared_->fragment[self_][fragments_sent_ % cells_per_process].sequence.store(
            fragments_sent_ + 1, std::memory_order_release);
        ++fragments_sent_;
    }
}

void PairBench::receive_fragments(const PathSample& what) {
    const uint64_t slots =
        std::clamp<uint64_t>(what.window_bytes / what.fragment_bytes, 1, cells_per_process);
    const uint32_t other = 1 - self_;
    std::byte* to = target_of(what);
    for (uint64_t done = 0, i = 0; done < what.bytes; done += what.fragment_bytes, ++i) {
        const uint64_t slot = i % slots;
        wait_for(shared_->fragment[other][fragments_received_ % cells_per_process].sequence,
                 fragments_received_ + 1);
        ++fragments_received_;
        std::memcpy(to + done, cells_ + (other * cells_per_process + slot) * cell_stride,
                    std::min(what.fragment_bytes, what.bytes - done));
        shared_->busy[other][slot].sequence.store(0, std::memory_order_release);
    }
}

} // namespace zipmpi::tool
