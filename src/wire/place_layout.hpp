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

// Zero: not known. Written once, by the launcher that bound the rank or by a rank that looked.
struct PlaceEntry {
    std::atomic<uint32_t> known; // stored last, with release
    Place place;
};
static_assert(sizeof(PlaceEntry) == 16);

// What is found out once per node, by the first rank that needs it: the others take it from here.
inline constexpr uint32_t fact_absent = 0, fact_in_work = 1, fact_known = 2;
inline constexpr uint32_t thresholds_per_pair = 12; // proto/select/select.hpp names them
inline constexpr uint32_t classes_of_pairs = 5;     // topo/pair_class.hpp names them

struct NodeFacts {
    std::atomic<uint32_t> places;     // fact_known: somebody has looked, though some places may be unknown
    std::atomic<uint32_t> thresholds; // fact_known: the table below holds
    std::atomic<uint64_t> l2_bytes, l3_bytes;
    uint64_t threshold[classes_of_pairs][thresholds_per_pair];
};

} // namespace zipmpi::wire
