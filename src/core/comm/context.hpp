// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Contexts keep the messages of communicators apart. A context is drawn by one member, which tells the
// others, from a pool that the node shares: two threads that make communicators at the same time, in whatever
// order, never get the same one. It is free again when every member has given it back.
//
//   bit 31 partitioned | 17 .. 30 node that drew it | 1 .. 16 id | bit 0 collective
//
// Communicators of one process have contexts of its own, without anybody else being asked.
//
// A process that knows others of another job draws all bits of node and id at random, except that the highest
// is set: two jobs cannot share a pool. 29 bits: that a process gets the same one from two others that have
// drawn it for two of its communicators is as likely as one in 5 * 10^8.
#pragma once

#include "base/err.hpp"

#include <cstdint>

namespace zipmpi::proto {
class Lane;
}

namespace zipmpi::core {

// Ids below the first that is drawn. 0 means none.
inline constexpr uint32_t world_context = 2;
inline constexpr uint32_t self_context = 4;
inline constexpr uint32_t creation_context = 6; // ranks of the job that make a communicator out of nothing
inline constexpr uint32_t first_drawn_id = 4;

// For so many holders, who are told of it; a single one draws for itself. 0: all are in use.
uint32_t draw_context(int holders);
void give_back_context(uint32_t context);
// One in a thousand, if none are given back.
bool is_milestone(uint32_t context);
// From now on ranks on other hosts may give back contexts that were drawn here.
void count_contexts_given_back(proto::Lane& lane);
[[gnu::cold]] Err no_context();

} // namespace zipmpi::core
