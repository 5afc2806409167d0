// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How near two ranks of a node are to each other: what they share, from near to far.
#pragma once

#include <cstddef>
#include <cstdint>

namespace zipmpi::topo {

enum class PairClass : uint8_t {
    same_core,  // they take turns on one core; also any pair of a node with more ranks than CPUs
    shared_l2,  // two cores, or two hardware threads of one, below one second-level cache
    shared_l3,  // two cores below one last-level cache; what is assumed where nothing is known
    same_numa,  // no cache in common, the same memory
    other_numa, // the data crosses from one memory to the other
};
inline constexpr size_t pair_classes = 5;
inline constexpr PairClass assumed_class = PairClass::shared_l3;

constexpr const char* name(PairClass c) {
    constexpr const char* names[] = {"same_core", "shared_l2", "shared_l3", "same_numa", "other_numa"};
    return names[static_cast<size_t>(c)];
}

} // namespace zipmpi::topo
