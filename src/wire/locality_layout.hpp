// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Localities of ranks in the hardware tree, and information discovered once per node, in the node segment.
#pragma once

#include <atomic>
#include <cstdint>

namespace zipmpi::wire {

inline constexpr uint16_t spans_several =
    0xffff; // spans several objects of a level, or the level does not exist

// Logical indices of hwloc, per level over the whole machine.
struct Locality {
    uint16_t package, numa, l3, l2, core, cpu;
    bool operator==(const Locality&) const = default;
};

// Locality that may change while it is read. Written by the launcher that binds the rank or by the rank that
// discovers it, and by the launcher when it rebinds the rank.
struct LocalitySlot {
    // 0: unknown; odd: being written; else twice the number of writes
    std::atomic<uint32_t> state;
    std::atomic<uint32_t> words[sizeof(Locality) / sizeof(uint32_t)]; // a Locality
};
static_assert(sizeof(LocalitySlot) == 16 && sizeof(Locality) == 12);

// States of information that the first rank that needs it discovers for the whole node. Odd: discovery is in
// progress by the rank whose local index is in the upper bits.
inline constexpr uint32_t info_absent = 0, info_in_progress = 1, info_known = 2;
constexpr uint32_t info_in_progress_by(uint32_t local) { return local << 1U | info_in_progress; }
constexpr bool is_in_progress(uint32_t state) { return (state & info_in_progress) != 0; }
constexpr uint32_t discoverer_of(uint32_t state) { return state >> 1U; }
inline constexpr uint32_t thresholds_per_pair = 15; // proto/select/select.hpp names them
inline constexpr uint32_t pair_class_count = 5;     // hwtopo/pair_class.hpp names them

struct NodeInfo {
    std::atomic<uint32_t> localities; // info_known: discovery is done; single localities may be unknown
    std::atomic<uint32_t> thresholds; // info_known: the table below is valid
    // 1: a rank sleeps until a locality becomes known or a rank joins; the process that causes it wakes all
    // ranks
    std::atomic<uint32_t> awaited;
    std::atomic<uint64_t> l2_bytes, l3_bytes;
    std::atomic<uint64_t> rebinds; // rebindings of ranks; incremented after their localities are updated
    uint64_t threshold[pair_class_count][thresholds_per_pair];
};

} // namespace zipmpi::wire
