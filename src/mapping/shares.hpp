// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers of ranks for hosts of different speeds. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace zipmpi::mapping {

struct SpeedTarget {
    uint32_t slots = 1;
    double speed = 1; // relative speed of a slot, positive
};

// Divides `ranks` ranks of equal work so that the slowest target ends early: numbers proportional to slots
// times speed. A target gets more ranks than slots only if all slots together are too few. The first of
// equal targets gets the remainder. Cost: ranks times the logarithm of targets.
std::vector<uint32_t> shares_by_speed(const std::vector<SpeedTarget>& targets, uint32_t ranks);

} // namespace zipmpi::mapping
