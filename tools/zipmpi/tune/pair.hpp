// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Two processes pinned to two CPUs (or both to one) that send each other messages on each of the paths the
// library has, reduced to what must happen: no matching, no requests. Half a round trip is what a message
// costs.
#pragma once

#include "proto/select/cost.hpp"

#include <atomic>
#include <cstddef>
#include <sched.h>
#include <sys/types.h>

namespace zipmpi::tool {

// One thing to be measured.
struct Exchange {
    proto::Path path = proto::Path::line;
    uint64_t bytes = 0;
    bool fresh =
        true; // each rank sends the buffer that it has just received into; else always the same bytes
    uint64_t fragment_bytes = 0; // of Path::fragments
    uint64_t window_bytes = 0;
};

struct SharedPage;

class Pair {
  public:
    static constexpr uint64_t largest_message = uint64_t{4} << 20;

    // Pins the calling process to first, until the end of the pair, and starts another one on second.
    Pair(int first, int second);
    ~Pair();
    Pair(const Pair&) = delete;
    Pair& operator=(const Pair&) = delete;

    // Nanoseconds of one message, over so many round trips.
    double time(const Exchange& what, uint64_t round_trips);
    // Can either process read the other's memory through the kernel?
    [[nodiscard]] bool kernel_copies() const { return kernel_copies_; }

  private:
    void serve();
    void run(const Exchange& what, uint64_t round_trips, bool first);
    void send(const Exchange& what);
    void receive(const Exchange& what);
    template <class Ready>
    void wait_until(Ready&& ready) const;
    void wait_for(const std::atomic<uint64_t>& word, uint64_t value) const;
    bool read_other(std::byte* to, const std::byte* from, uint64_t bytes) const;
    [[nodiscard]] const std::byte* source_of(const Exchange& what) const;
    [[nodiscard]] std::byte* target_of(const Exchange& what) const;
    void send_fragments(const Exchange& what);
    void receive_fragments(const Exchange& what);
    void copy_jointly(const Exchange& what, uint64_t number);
    void help_to_copy(const Exchange& what, uint64_t number);

    SharedPage* shared_ = nullptr;
    std::byte* cells_ = nullptr;   // shared: those of the first process, then those of the second
    std::byte* mapped_ = nullptr;  // shared: buffers for direct copies, two for each process
    std::byte* private_ = nullptr; // two buffers at the same address in both processes
    uint64_t commands_ = 0;
    uint64_t sent_ = 0, received_ = 0; // messages; also the numbers of lines
    uint64_t fragments_sent_ = 0, fragments_received_ = 0;
    pid_t other_ = 0;
    uint32_t self_ = 0;
    bool one_cpu_;
    cpu_set_t before_; // where the calling process was allowed to run
    bool kernel_copies_ = true;
    bool started_ = false; // in the first process: the other one has to be ended
};

} // namespace zipmpi::tool
