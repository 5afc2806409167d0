// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Event counters of one rank, in the node segment, so that tools can read them while the job runs. Only their
// rank writes them: no locked instruction. The message path uses add_owner(), which compiles to one
// instruction; even a relaxed atomic add takes three.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace zipmpi {

// X(name, description)
#define ZIPMPI_COUNTERS(X)                                                                                   \
    X(sends, "messages sent")                                                                                \
    X(send_bytes, "bytes sent")                                                                              \
    X(receives, "messages received")                                                                         \
    X(receive_bytes, "bytes received")                                                                       \
    X(unexpected, "messages that arrived before their receive was posted")                                   \
    X(inline_messages, "messages sent inline in one ring slot")                                              \
    X(cells, "send buffer cells used")                                                                       \
    X(rendezvous, "messages sent by rendezvous")                                                             \
    X(cma_copies, "messages received by CMA copy")                                                           \
    X(arena_copies, "messages copied directly from the shared arena")                                        \
    X(coop_copies, "messages copied cooperatively by sender and receiver")                                   \
    X(ring_full, "sends delayed because the ring to the peer was full")                                      \
    X(no_cell, "sends delayed because no cell was free")                                                     \
    X(sleeps, "blocking waits that went to sleep")                                                           \
    X(wakeups_sent, "wakeups sent to sleeping peers")                                                        \
    X(missed_wakeups, "wakeups missed and recovered by the safety timeout; must stay 0")                     \
    X(lock_migrations, "hybrid window locks that migrated between node and network")                         \
    X(collectives, "collective operations")                                                                  \
    X(ring_polls, "polls of rings from ranks of this node")                                                  \
    X(unexpected_length, "current number of unexpected messages; a level, not a sum")

enum class Counter : uint32_t {
#define ZIPMPI_X(id, text) id,
    ZIPMPI_COUNTERS(ZIPMPI_X)
#undef ZIPMPI_X
        count_
};

struct CounterInfo {
    std::string_view name, text;
};
inline constexpr CounterInfo counter_infos[] = {
#define ZIPMPI_X(id, text) {#id, text},
    ZIPMPI_COUNTERS(ZIPMPI_X)
#undef ZIPMPI_X
};

inline constexpr uint32_t counter_slots = 64; // capacity in the segment, fixed so that offsets do not change

struct alignas(64) Counters {
    uint64_t value[counter_slots];

    void add(Counter c, uint64_t n = 1) noexcept {
        const std::atomic_ref v(value[static_cast<uint32_t>(c)]);
        v.store(v.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }
    void set(Counter c, uint64_t n) noexcept {
        std::atomic_ref(value[static_cast<uint32_t>(c)]).store(n, std::memory_order_relaxed);
    }
    // Nonatomic; for counters that the threads of a process access under one lock.
    void add_owner(Counter c, uint64_t n = 1) noexcept { value[static_cast<uint32_t>(c)] += n; }
    [[nodiscard]] uint64_t get(Counter c) const noexcept {
        auto& v = const_cast<uint64_t&>(value[static_cast<uint32_t>(c)]);
        return std::atomic_ref(v).load(std::memory_order_relaxed);
    }
};
static_assert(sizeof(Counters) == 512);
static_assert(static_cast<uint32_t>(Counter::count_) <= counter_slots);

} // namespace zipmpi
