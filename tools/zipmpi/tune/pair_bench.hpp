// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Two processes pinned to two CPUs (or both to one) that exchange messages on each path of the library,
// reduced to the essential operations: no matching, no requests. The cost of a message is half a round trip.
#pragma once

#include "proto/select/cost.hpp"

#include <atomic>
#include <cstddef>
#include <sched.h>
#include <sys/types.h>

namespace zipmpi::tool {

// One configuration to measure.
struct PathSample {
    proto::MessagePath path = proto::MessagePath::inline_;
    uint64_t bytes = 0;
    bool fresh = true; // each rank sends the buffer it has just received into; otherwise unchanged bytes
    uint64_t fragment_bytes = 0; // for MessagePath::pipeline
    uint64_t window_bytes = 0;
};

struct SharedPage;

class PairBench {
  public:
    static constexpr uint64_t largest_message = uint64_t{4} << 20;

    // Pins the calling process to `first` for the lifetime of this object, and starts another process on
    // `second`.
    PairBench(int first, int second);
    ~PairBench();
    PairBench(const PairBench&) = delete;
    PairBench& operator=(const PairBench&) = delete;

    // Nanoseconds per message, averaged over the given number of round trips.
    double time(const PathSample& what, uint64_t round_trips);
    // True if each process may read the other's memory by CMA.
    [[nodiscard]] bool cma_works() const { return cma_works_; }

  private:
    void serve();
    void run(const PathSample& what, uint64_t round_trips, bool first);
    void send(const PathSample& what);
    void receive(const PathSample& what);
    template <class Ready>
    void wait_until(Ready&& ready) const;
    void wait_for(const std::atomic<uint64_t>& word, uint64_t value) const;
    bool read_other(std::byte* to, const std::byte* from, uint64_t bytes) const;
    [[nodiscard]] const std::byte* source_of(const PathSample& what) const;
    [[nodiscard]] std::byte* target_of(const PathSample& what) const;
    void send_fragments(const PathSample& what);
    void receive_fragments(const PathSample& what);
    void receive_coop(const PathSample& what, uint64_t number);
    void send_coop(const PathSample& what, uint64_t number);

    SharedPage* shared_ = nullptr;
    std::byte* cells_ = nullptr;   // shared: cells of the first process, then of the second
    std::byte* mapped_ = nullptr;  // shared: buffers for arena copies, two for each process
    std::byte* private_ = nullptr; // two buffers at the same address in both processes
    uint64_t commands_ = 0;
    uint64_t sent_ = 0, received_ = 0; // messages; also the slot numbers
    uint64_t fragments_sent_ = 0, fragments_received_ = 0;
    pid_t other_ = 0;
    uint32_t self_ = 0;
    bool one_cpu_;
    cpu_set_t saved_affinity_; // original affinity of the calling process
    bool cma_works_ = true;
    bool started_ = false; // in the first process: the other one must be ended
};

} // namespace zipmpi::tool
