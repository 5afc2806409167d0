// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Event counters of one rank. They lie in the node segment, so that tools can read them while the job runs.
// Written by their rank only: a plain add, no locked instruction. On the path of every message one without
// the marks of an atomic, which compilers make one instruction of instead of three.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace zipmpi {

// X(name, what it counts)
#define ZIPMPI_COUNTERS(X)                                                                                   \
    X(sends, "messages sent")                                                                                \
    X(send_bytes, "bytes sent")                                                                              \
    X(receives, "messages received")                                                                         \
    X(receive_bytes, "bytes received")                                                                       \
    X(unexpected, "messages that came before their receive")                                                 \
    X(inline_messages, "messages that fitted into one cache line")                                           \
    X(cells, "cells of the send buffer pool used")                                                           \
    X(rendezvous, "messages sent by rendezvous")                                                             \
    X(kernel_copies, "messages taken out of the sender's buffer by the kernel")                              \
    X(direct_copies, "messages copied straight out of memory that is born shared")                           \
    X(joint_copies, "messages that sender and receiver copied together")                                     \
    X(ring_full, "times a sender found the ring to a peer full")                                             \
    X(no_cell, "times a sender found no free cell")                                                          \
    X(sleeps, "times the rank went to sleep while waiting")                                                  \
    X(wakes_sent, "times the rank woke a sleeping peer")                                                     \
    X(late_wakes,                                                                                            \
      "sleeps that ended by their time limit although what they were for was there: must stay 0")            \
    X(collectives, "collective operations")                                                                  \
    X(ring_looks, "rings looked at for messages from ranks of this node")                                    \
    X(unexpected_now, "messages that wait for their receive now: a state, not a sum")

enum class Counter : uint32_t {
#define ZIPMPI_X(id, text) id,
    ZIPMPI_COUNTERS(ZIPMPI_X)
#undef ZIPMPI_X
        count_
};

struct CounterText {
    std::string_view name, text;
};
inline constexpr CounterText counter_texts[] = {
#define ZIPMPI_X(id, text) {#id, text},
    ZIPMPI_COUNTERS(ZIPMPI_X)
#undef ZIPMPI_X
};

inline constexpr uint32_t counter_slots = 64; // room in the segment, fixed so that layouts do not move

struct alignas(64) Counters {
    uint64_t value[counter_slots];

    void add(Counter c, uint64_t n = 1) noexcept {
        const std::atomic_ref v(value[static_cast<uint32_t>(c)]);
        v.store(v.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }
    void set(Counter c, uint64_t n) noexcept {
        std::atomic_ref(value[static_cast<uint32_t>(c)]).store(n, std::memory_order_relaxed);
    }
    // For counters that the threads of a process write under one lock, and read there.
    void add_locked(Counter c, uint64_t n = 1) noexcept { value[static_cast<uint32_t>(c)] += n; }
    [[nodiscard]] uint64_t get(Counter c) const noexcept {
        auto& v = const_cast<uint64_t&>(value[static_cast<uint32_t>(c)]);
        return std::atomic_ref(v).load(std::memory_order_relaxed);
    }
};
static_assert(sizeof(Counters) == 512);
static_assert(static_cast<uint32_t>(Counter::count_) <= counter_slots);

} // namespace zipmpi
