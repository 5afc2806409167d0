// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a gateway has done, in a file that others may map. One writer; readers may look at any moment.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
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

// One way out of the gateway: the network of a cluster, or a link to another gateway.
struct LaneCounters {
    char name[64];
    std::atomic<uint64_t> frames{0}, bytes{0};
    std::atomic<uint64_t> queued{0}; // frames that wait for it now
    std::atomic<uint64_t> lost{0};   // frames that it did not take; the ends send them again
};

// The memory file as it lies in the gateway's descriptors, by the name below: `zipmpi top --gateway` reads
// it.
inline constexpr const char* shown_name = "zipmpi-gateway";
inline constexpr uint64_t shown_magic = 0x3159574750495a00; // with the number of this layout
inline constexpr size_t most_networks = 8;
inline constexpr size_t most_links = 56; // those beyond share the last place
struct Shown {
    uint64_t magic = shown_magic;
    uint32_t number = 0; // of the gateway
    char job_id[64] = {};
    Counters all;
    LaneCounters networks[most_networks] = {};
    LaneCounters links[most_links] = {};

    LaneCounters& network(int i) { return networks[std::min(static_cast<size_t>(i), most_networks - 1)]; }
    LaneCounters& link(int i) { return links[std::min(static_cast<size_t>(i), most_links - 1)]; }
};

inline void add(std::atomic<uint64_t>& counter, uint64_t n = 1) {
    counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

inline void take_off(std::atomic<uint64_t>& counter, uint64_t n = 1) {
    counter.store(counter.load(std::memory_order_relaxed) - n, std::memory_order_relaxed);
}

} // namespace zipmpi::gateway
