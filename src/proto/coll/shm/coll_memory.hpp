// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Allocator of collective buffers in the node segment (wire/coll_buffer_layout.hpp), used by any rank.
#pragma once

#include "segment/node_segment.hpp"

namespace zipmpi::proto::coll {

// Returns the offset of a block with reserved memory and undefined contents; 0 if none is available.
uint64_t allocate_coll_memory(const segment::NodeSegment& segment, uint64_t bytes);
void free_coll_memory(const segment::NodeSegment& segment, uint64_t offset, uint64_t bytes);

} // namespace zipmpi::proto::coll
