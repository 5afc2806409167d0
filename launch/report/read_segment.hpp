// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reads a RankSnapshot from the flight recorder in shared memory. The rank may be dead, running, or have
// written garbage: every number is checked.
#pragma once

#include "launch/report/snapshot.hpp"
#include "segment/node_segment.hpp"

namespace zipmpi::launch {

RankSnapshot read_rank_snapshot(const segment::NodeSegment& segment, uint32_t local);

// The most recent MPI call, completed or not; empty if there was none.
std::string newest_call(const segment::NodeSegment& segment, uint32_t local);

// Message that the library left before it aborted; printable characters only.
std::string abort_text(const segment::NodeSegment& segment, uint32_t local);

} // namespace zipmpi::launch
