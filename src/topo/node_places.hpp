// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The places of the ranks of a node, in the node segment: filled by mpiexec when it binds ranks, else by the
// first rank that asks. What is asked of hwloc is asked once per node.
#pragma once

#include "boot/node_segment.hpp"
#include "topo/place.hpp"

namespace zipmpi::topo {

// Does nothing if the place is known: only a move changes it.
void set_place(const boot::NodeSegment& segment, uint32_t local, const Place& place);
bool get_place(const boot::NodeSegment& segment, uint32_t local, Place& place); // false: not known

// The launcher has moved a rank; announce_moves() after all moves of one decision tells the ranks to look at
// places again. One process per node moves ranks.
void move_place(const boot::NodeSegment& segment, uint32_t local, const Place& place);
void announce_moves(const boot::NodeSegment& segment);

void set_caches(const boot::NodeSegment& segment, const Machine& machine);

// Finds out the places that are not known yet, of all ranks that can be seen. Takes milliseconds in the one
// process that does it, which wakes those that sleep until they are known (NodeSegment::await_facts());
// returns at once in the others. False: another rank is at it, ask again later.
bool look_for_places(const boot::NodeSegment& segment, uint32_t self);

// The rank that is at it. False: nobody is.
bool who_looks_for_places(const boot::NodeSegment& segment, uint32_t& local);
// It has died: the next one that asks does it.
void replace_who_looks(const boot::NodeSegment& segment, uint32_t dead);

// The same for one rank that came after somebody had looked. False: it is not there yet, or a place is being
// written; ask again later.
bool look_for_place(const boot::NodeSegment& segment, uint32_t local);

// The place of the calling process, which is this rank: by all means, also if it came after somebody had
// looked.
bool find_own_place(const boot::NodeSegment& segment, uint32_t self, Place& place);

} // namespace zipmpi::topo
