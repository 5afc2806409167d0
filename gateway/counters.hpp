// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Statistics of a gateway, in a file that other processes may map. One writer; readers may read at any time.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace zipmpi::gateway {

struct GatewayCounters {
    std::atomic<uint64_t> frames{0}, bytes{0};
    std::atomic<uint64_t> messages{0};       // forwarded, regardless of the number of frames
    std::atomic<uint64_t> control{0};        // acknowledgements and grants
    std::atomic<uint64_t> buffered_bytes{0}; // now
    std::atomic<uint64_t> max_buffered_bytes{0};
    std::atomic<uint64_t> waiting{0};  // frames whose receiver has not completed the handshake
    std::atomic<uint64_t> dropped{0};  // no route, or receiver not reachable
    std::atomic<uint64_t> rejected{0}; // not valid frames of this job, or wrong source
    std::atomic<uint64_t> rejected_messages{0};
};

// One output of the gateway: the network of a cluster, or a link to another gateway.
struct PortCounters {
    char name[64];
    std::atomic<uint64_t> frames{0}, bytes{0};
    std::atomic<uint64_t> queued{0};  // frames waiting for it now
    std::atomic<uint64_t> dropped{0}; // frames that it did not accept; the endpoints retransmit them
};

// Layout of the memory file, found by this name among the gateway's descriptors: `zipmpi top --gateways`
// reads it.
inline constexpr const char* stats_file_name = "zipmpi-gateway";
inline constexpr uint64_t stats_magic = 0x3159574750495a00; // includes the layout version
inline constexpr size_t max_networks = 8;
inline constexpr size_t max_links = 56; // further links share the last entry
struct GatewayStats {
    uint64_t magic = stats_magic;
    uint32_t number = 0; // of the gateway
    char job_id[64] = {};
    GatewayCounters totals;
    PortCounters networks[max_networks] = {};
    PortCounters links[max_links] = {};

    PortCounters& network(int i) { return networks[std::min(static_cast<size_t>(i), max_networks - 1)]; }
    PortCounters& link(int i) { return links[std::min(static_cast<size_t>(i), max_links - 1)]; }
};

inline void add(std::atomic<uint64_t>& counter, uint64_t n = 1) {
    counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

inline void subtract(std::atomic<uint64_t>& counter, uint64_t n = 1) {
    counter.store(counter.load(std::memory_order_relaxed) - n, std::memory_order_relaxed);
}

} // namespace zipmpi::gateway
