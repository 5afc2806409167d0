// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Localities of the ranks of a node in the node segment: written by mpiexec when it binds ranks, else by the
// first rank that needs one. hwloc is used at most once per node.
#pragma once

#include "hwtopo/machine.hpp"
#include "segment/node_segment.hpp"

namespace zipmpi::hwtopo {

// No effect if the locality is known already; only update_locality() changes it.
void set_locality(const segment::NodeSegment& segment, uint32_t local, const Locality& locality);
bool get_locality(const segment::NodeSegment& segment, uint32_t local, Locality& locality); // false: unknown

// Called by the launcher after rebinding a rank; publish_rebinds() after all rebindings of one decision makes
// ranks read localities again. One process per node rebinds ranks.
void update_locality(const segment::NodeSegment& segment, uint32_t local, const Locality& locality);
void publish_rebinds(const segment::NodeSegment& segment);

void set_caches(const segment::NodeSegment& segment, const Machine& machine);

// Discovers unknown localities of all ranks that have joined. Takes milliseconds in the one process that does
// it, which then wakes sleeping ranks (NodeInformation::await()); returns immediately in others.
// Returns false while another rank is discovering.
bool discover_localities(const segment::NodeSegment& segment, uint32_t self);

// Rank that is discovering. Returns false if there is none.
bool discovering_rank(const segment::NodeSegment& segment, uint32_t& local);
// Resets the discovery of a dead rank, so that the next caller starts it again.
void reset_discovery(const segment::NodeSegment& segment, uint32_t dead);

// Discovers the locality of a rank that joined after the discovery; that of a rank that has left meanwhile
// stays unknown. Returns false if the rank has not joined or its locality is being written; try again later.
bool discover_locality(const segment::NodeSegment& segment, uint32_t local);

// Locality of the calling rank; discovers it if it joined after the discovery.
bool own_locality(const segment::NodeSegment& segment, uint32_t self, Locality& locality);

} // namespace zipmpi::hwtopo
