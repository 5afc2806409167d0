// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Distance class of two ranks of a node: the closest resource they share, from near to far.
#pragma once

#include <cstddef>
#include <cstdint>

namespace zipmpi::hwtopo {

enum class PairClass : uint8_t {
    same_core,  // time-share one core; also any pair of an oversubscribed node
    shared_l2,  // two cores, or two hardware threads of one core, with a common L2 cache
    shared_l3,  // two cores with a common L3 cache; assumed if nothing is known
    same_numa,  // no common cache, same NUMA node
    other_numa, // different NUMA nodes
};
inline constexpr size_t pair_classes = 5;
inline constexpr PairClass assumed_class = PairClass::shared_l3;

constexpr const char* name(PairClass c) {
    constexpr const char* names[] = {"same_core", "shared_l2", "shared_l3", "same_numa", "other_numa"};
    return names[static_cast<size_t>(c)];
}

} // namespace zipmpi::hwtopo
