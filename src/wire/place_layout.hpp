// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Where a rank is on its machine, as it lies in the node segment.
#pragma once

#include <atomic>
#include <cstdint>

namespace zipmpi::wire {

inline constexpr uint16_t several = 0xffff; // spread over more than one of a level, or there is none

// Numbers are hwloc's logical ones, per level over the whole machine.
struct Place {
    uint16_t package, numa, l3, l2, core, cpu;
    bool operator==(const Place&) const = default;
};

// A place that may change while it is read. Written by the launcher that bound the rank or by a rank that
// looked, and again by the launcher when it moves the rank.
struct PlaceEntry {
    // 0: not known; odd: being written; else twice the number of times it was written
    std::atomic<uint32_t> state;
    std::atomic<uint32_t> words[sizeof(Place) / sizeof(uint32_t)]; // a Place
};
static_assert(sizeof(PlaceEntry) == 16 && sizeof(Place) == 12);

// What is found out once per node, by the first rank that needs it: the others take it from here. Odd: a rank
// is at it, whose local index is the upper bits.
inline constexpr uint32_t fact_absent = 0, fact_in_work = 1, fact_known = 2;
constexpr uint32_t fact_in_work_by(uint32_t local) { return local << 1U | fact_in_work; }
constexpr bool is_in_work(uint32_t state) { return (state & fact_in_work) != 0; }
constexpr uint32_t worker_of(uint32_t state) { return state >> 1U; }
inline constexpr uint32_t thresholds_per_pair = 15; // proto/select/select.hpp names them
inline constexpr uint32_t classes_of_pairs = 5;     // topo/pair_class.hpp names them

struct NodeFacts {
    std::atomic<uint32_t> places;     // fact_known: somebody has looked, though some places may be unknown
    std::atomic<uint32_t> thresholds; // fact_known: the table below holds
    // A rank sleeps until a place becomes known or a rank joins: whoever does that wakes all ranks.
    std::atomic<uint32_t> awaited;
    std::atomic<uint64_t> l2_bytes, l3_bytes;
    std::atomic<uint64_t> moves; // of ranks to other cores: changes after their places have
    uint64_t threshold[classes_of_pairs][thresholds_per_pair];
};

} // namespace zipmpi::wire
