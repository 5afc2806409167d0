// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/select/select.hpp"

#include "base/param.hpp"

namespace zipmpi::proto {
namespace {

constexpr Thresholds table[topo::pair_classes] = {
    // eager, kernel, fragment, window, direct
    {32 * KiB, 1, 32 * KiB, 256 * KiB, 4 * KiB},      {32 * KiB, 128 * KiB, 32 * KiB, 512 * KiB, 4 * KiB},
    {32 * KiB, 64 * KiB, 32 * KiB, 1 * MiB, 4 * KiB}, {32 * KiB, 64 * KiB, 32 * KiB, 1 * MiB, 4 * KiB},
    {32 * KiB, 64 * KiB, 32 * KiB, 1 * MiB, 4 * KiB},
};

} // namespace

const Thresholds& thresholds_for(PairClass pair) { return table[static_cast<size_t>(pair)]; }

} // namespace zipmpi::proto
