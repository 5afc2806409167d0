// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Memory for boards in the node segment (wire/board_layout.hpp). Any rank may take and give back.
#pragma once

#include "boot/node_segment.hpp"

namespace zipmpi::proto::coll {

// The offset of a block of so many bytes, reserved, its contents undefined. 0: there is none.
uint64_t take_board_memory(const boot::NodeSegment& segment, uint64_t bytes);
void give_board_memory_back(const boot::NodeSegment& segment, uint64_t offset, uint64_t bytes);

} // namespace zipmpi::proto::coll
