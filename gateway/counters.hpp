// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a gateway has done, in a file that others may map. One writer; readers may look at any moment.
#pragma once

#include <atomic>
#include <cstdint>

namespace zipmpi::gateway {

struct Counters {
    std::atomic<uint64_t> frames{0}, bytes{0};
    std::atomic<uint64_t> messages{0};   // that crossed, whatever number of frames they took
    std::atomic<uint64_t> control{0};    // acknowledgements and grants
    std::atomic<uint64_t> held_bytes{0}; // now
    std::atomic<uint64_t> most_held{0};
    std::atomic<uint64_t> waiting{0}; // frames whose receiver has not answered yet
    std::atomic<uint64_t> dropped{0}; // no way, or nobody there
    std::atomic<uint64_t> refused{0}; // no frames of this job, or not from whom they say
    std::atomic<uint64_t> strangers{0};
};

inline void add(std::atomic<uint64_t>& counter, uint64_t n = 1) {
    counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

} // namespace zipmpi::gateway
