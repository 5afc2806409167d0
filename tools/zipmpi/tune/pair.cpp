// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tune/pair.hpp"

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
constexpr uint64_t cell_stride = (uint64_t{64} << 10) + wire::line_size;
constexpr uint64_t lines_of_message = 1 + wire::max_more_lines;

struct alignas(wire::line_size) Line {
    std::atomic<uint64_t> number;
    std::byte bytes[56];
};

} // namespace

// Index 0: from the first process to the second.
struct SharedPage {
    Line line[2][lines_of_message];
    Line answer[2];
    Line fragment[2][cells_per_process];
    Line busy[2][cells_per_process]; // a cell's head: cleared by whoever has copied it out
    Line help[2];                    // the receiver of a joint copy offers it
    wire::JointCopy joint[2];        // of the receiver
    alignas(wire::line_size) std::atomic<uint64_t> command;
    Exchange what;
    uint64_t round_trips;
    alignas(wire::line_size) std::atomic<uint64_t> probed; // by the second process: 1 works, 2 refused
};

namespace {

std::byte* memory(uint64_t bytes, int sharing) {
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        throw std::runtime_error(std::string("no memory to measure with: ") + strerror(errno));
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
void Pair::wait_until(Ready&& ready) const {
    constexpr uint32_t patience = 1U << 16; // then somebody else may need the CPU more than we do
    for (uint32_t turns = 1; !ready(); ++turns) {
        if (one_cpu_ || turns % patience == 0)
            sched_yield();
        else
            os::cpu_relax();
        if (turns % (patience * 64) == 0 && started_ && waitpid(other_, nullptr, WNOHANG) != 0)
            throw std::runtime_error("the second process of a pair has ended");
    }
}

Pair::Pair(int first, int second)
    : one_cpu_(first == second) {
    shared_ = reinterpret_cast<SharedPage*>(memory(sizeof(SharedPage), MAP_SHARED));
    cells_ = memory(2 * cells_per_process * cell_stride, MAP_SHARED);
    mapped_ = memory(4 * largest_message, MAP_SHARED);
    private_ = memory(2 * largest_message, MAP_PRIVATE);
    std::memset(mapped_, 1, 4 * largest_message);
    sched_getaffinity(0, sizeof before_, &before_);
    const pid_t parent = getpid();
    other_ = fork();
    if (other_ < 0) throw std::runtime_error(std::string("no second process: ") + strerror(errno));
    if (other_ == 0) os::die_with_parent(parent);
    os::allow_reading_by_others();
    std::memset(private_, 1, 2 * largest_message); // pages of its own in each process
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
        _exit(1); // the first one notices
    }
    started_ = true;
    pin_to(first);
    std::byte probe{};
    kernel_copies_ = read_other(&probe, private_, 1);
    wait_until([&] { return shared_->probed.load(std::memory_order_acquire) != 0; });
    kernel_copies_ = kernel_copies_ && shared_->probed.load(std::memory_order_relaxed) == 1;
}

Pair::~Pair() {
    if (started_) {
        kill(other_, SIGKILL);
        waitpid(other_, nullptr, 0);
        sched_setaffinity(0, sizeof before_, &before_);
    }
    munmap(shared_, sizeof(SharedPage));
    munmap(cells_, 2 * cells_per_process * cell_stride);
    munmap(mapped_, 4 * largest_message);
    munmap(private_, 2 * largest_message);
}

bool Pair::read_other(std::byte* to, const std::byte* from, uint64_t bytes) const {
    return os::read_process_memory(other_, reinterpret_cast<uint64_t>(from), to, bytes);
}

void Pair::wait_for(const std::atomic<uint64_t>& word, uint64_t value) const {
    wait_until([&] { return word.load(std::memory_order_acquire) == value; });
}

double Pair::time(const Exchange& what, uint64_t round_trips) {
    shared_->what = what;
    shared_->round_trips = round_trips + 1;
    shared_->command.store(++commands_, std::memory_order_release);
    run(what, 1, true);
    const auto begin = os::now_ns();
    run(what, round_trips, true);
    return static_cast<double>(os::now_ns() - begin) / (2.0 * static_cast<double>(round_trips));
}

void Pair::serve() {
    for (;;) {
        wait_for(shared_->command, ++commands_);
        run(shared_->what, shared_->round_trips, false);
    }
}

void Pair::run(const Exchange& what, uint64_t round_trips, bool first) {
    for (uint64_t i = 0; i < round_trips; ++i) {
        if (first) send(what);
        receive(what);
        if (!first) send(what);
    }
}

// Two buffers per process: with `fresh` one serves for both directions.
std::byte* Pair::target_of(const Exchange& what) const {
    return what.path == proto::Path::direct ? mapped_ + uint64_t{2} * self_ * largest_message : private_;
}

const std::byte* Pair::source_of(const Exchange& what) const {
    return target_of(what) + (what.fresh ? 0 : largest_message);
}

void Pair::send(const Exchange& what) {
    Line* line = shared_->line[self_];
    const uint64_t number = ++sent_;
    switch (what.path) {
    case proto::Path::line:
        std::memcpy(line->bytes, private_, wire::inline_max);
        return line->number.store(number, std::memory_order_release);
    case proto::Path::lines:
        for (uint64_t i = 0; i < lines_of_message; ++i) std::memcpy(line[i].bytes, private_ + 64 * i, 56);
        return line->number.store(number, std::memory_order_release);
    case proto::Path::cell:
        std::memcpy(cells_ + self_ * cells_per_process * cell_stride, source_of(what), what.bytes);
        return line->number.store(number, std::memory_order_release);
    case proto::Path::fragments:
        line->number.store(number, std::memory_order_release);
        wait_for(shared_->answer[1 - self_].number, number);
        return send_fragments(what);
    case proto::Path::kernel:
    case proto::Path::direct:
        line->number.store(number, std::memory_order_release);
        return wait_for(shared_->answer[1 - self_].number, number);
    case proto::Path::joint:
        line->number.store(number, std::memory_order_release);
        help_to_copy(what, number);
        return wait_for(shared_->answer[1 - self_].number, number);
    }
}

void Pair::receive(const Exchange& what) {
    const uint32_t other = 1 - self_;
    const Line* line = shared_->line[other];
    const uint64_t number = ++received_;
    std::byte* const to = target_of(what);
    wait_for(line->number, number);
    const auto answer = [&] { shared_->answer[self_].number.store(number, std::memory_order_release); };
    switch (what.path) {
    case proto::Path::line:
        std::memcpy(to, line->bytes, wire::inline_max);
        return;
    case proto::Path::lines:
        for (uint64_t i = 0; i < lines_of_message; ++i) std::memcpy(to + 64 * i, line[i].bytes, 56);
        return;
    case proto::Path::cell:
        std::memcpy(to, cells_ + other * cells_per_process * cell_stride, what.bytes);
        return;
    case proto::Path::fragments:
        answer();
        return receive_fragments(what);
    case proto::Path::kernel:
        if (!read_other(to, source_of(what), what.bytes))
            throw std::runtime_error("the kernel refuses to copy");
        return answer();
    case proto::Path::direct: {
        const std::byte* from = mapped_ + (uint64_t{2} * other + (what.fresh ? 0 : 1)) * largest_message;
        std::memcpy(to, from, what.bytes);
        return answer();
    }
    case proto::Path::joint:
        copy_jointly(what, number);
        return answer();
    }
}

// As in proto/p2p/joint.cpp, without what has to be checked there.
void Pair::copy_jointly(const Exchange& what, uint64_t number) {
    const uint64_t chunk_bytes = proto::chunk_for(what.bytes);
    const uint32_t chunks = proto::count_chunks(what.bytes, chunk_bytes);
    wire::JointCopy& joint = shared_->joint[self_];
    joint.helped.store(0, std::memory_order_relaxed);
    joint.taken.store(number << 32, std::memory_order_release);
    shared_->help[self_].number.store(number, std::memory_order_release);
    uint32_t own = 0;
    for (uint32_t chunk = 0; proto::take_chunk(joint, static_cast<uint32_t>(number), chunks, true, chunk);
         ++own) {
        const uint64_t at = proto::chunk_at(chunk_bytes, chunk);
        if (!read_other(target_of(what) + at, source_of(what) + at,
                        proto::chunk_length(what.bytes, chunk_bytes, chunk)))
            throw std::runtime_error("the kernel refuses to copy");
    }
    wait_until([&] { return own + joint.helped.load(std::memory_order_acquire) == chunks; });
}

void Pair::help_to_copy(const Exchange& what, uint64_t number) {
    const uint32_t other = 1 - self_;
    wait_until([&] {
        return shared_->help[other].number.load(std::memory_order_acquire) == number ||
               shared_->answer[other].number.load(std::memory_order_acquire) == number;
    });
    if (!os::can_write_process_memory()) return; // the receiver copies all
    const uint64_t chunk_bytes = proto::chunk_for(what.bytes);
    const uint32_t chunks = proto::count_chunks(what.bytes, chunk_bytes);
    wire::JointCopy& joint = shared_->joint[other];
    for (uint32_t chunk = 0; proto::take_chunk(joint, static_cast<uint32_t>(number), chunks, false, chunk);) {
        const uint64_t at = proto::chunk_at(chunk_bytes, chunk);
        if (!os::write_process_memory(other_, reinterpret_cast<uint64_t>(target_of(what) + at),
                                      source_of(what) + at,
                                      proto::chunk_length(what.bytes, chunk_bytes, chunk)))
            throw std::runtime_error("the kernel refuses to copy");
        joint.helped.fetch_add(1, std::memory_order_release);
    }
}

void Pair::send_fragments(const Exchange& what) {
    const uint64_t slots =
        std::clamp<uint64_t>(what.window_bytes / what.fragment_bytes, 1, cells_per_process);
    const std::byte* from = source_of(what);
    for (uint64_t done = 0, i = 0; done < what.bytes; done += what.fragment_bytes, ++i) {
        const uint64_t slot = i % slots;
        Line& busy = shared_->busy[self_][slot];
        wait_for(busy.number, 0);
        busy.number.store(1, std::memory_order_relaxed);
        std::memcpy(cells_ + (self_ * cells_per_process + slot) * cell_stride, from + done,
                    std::min(what.fragment_bytes, what.bytes - done));
        shared_->fragment[self_][fragments_sent_ % cells_per_process].number.store(fragments_sent_ + 1,
                                                                                   std::memory_order_release);
        ++fragments_sent_;
    }
}

void Pair::receive_fragments(const Exchange& what) {
    const uint64_t slots =
        std::clamp<uint64_t>(what.window_bytes / what.fragment_bytes, 1, cells_per_process);
    const uint32_t other = 1 - self_;
    std::byte* to = target_of(what);
    for (uint64_t done = 0, i = 0; done < what.bytes; done += what.fragment_bytes, ++i) {
        const uint64_t slot = i % slots;
        wait_for(shared_->fragment[other][fragments_received_ % cells_per_process].number,
                 fragments_received_ + 1);
        ++fragments_received_;
        std::memcpy(to + done, cells_ + (other * cells_per_process + slot) * cell_stride,
                    std::min(what.fragment_bytes, what.bytes - done));
        shared_->busy[other][slot].number.store(0, std::memory_order_release);
    }
}

} // namespace zipmpi::tool
