// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// From the flight recorder in shared memory to a RankPlace. The rank may be dead, running, or have written
// nonsense: every number is checked.
#pragma once

#include "boot/node_segment.hpp"
#include "launch/report/snapshot.hpp"

namespace zipmpi::launch {

RankPlace read_place(const boot::NodeSegment& segment, uint32_t local);

// The call that was entered last, whether it is over or not; empty if there was none.
std::string newest_call(const boot::NodeSegment& segment, uint32_t local);

// What the rank said before it ended itself; only printable characters.
std::string abort_text(const boot::NodeSegment& segment, uint32_t local);

} // namespace zipmpi::launch
