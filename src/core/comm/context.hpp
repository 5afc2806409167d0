// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Contexts separate the messages of communicators. One member allocates a context from a pool shared by the
// node and sends it to the others, so threads that create communicators concurrently, in any order, never
// obtain equal ones. A context is free again when every member has released it.
//
//   bit 31 partitioned | 17 .. 30 allocating node | 1 .. 16 id | bit 0 collective
//
// Communicators with a single process allocate private contexts locally.
//
// A process connected to other jobs draws all bits of node and id at random, with the highest bit set,
// because jobs do not share a pool. With 29 bits, the probability that a process receives the same context
// from two others for two of its communicators is about 1 in 5 * 10^8.
#pragma once

#include "base/err.hpp"

#include <cstdint>

namespace zipmpi::proto {
class ProgressEngine;
}

namespace zipmpi::core {

// Fixed ids below the first allocated one. 0 means none.
inline constexpr uint32_t world_context = 2;
inline constexpr uint32_t self_context = 4;
inline constexpr uint32_t creation_context = 6; // creation of communicators without a parent communicator,
                                                // between ranks of the job
inline constexpr uint32_t first_dynamic_id = 4;

// Allocates a context for `holders` processes; a single one gets a private context. Returns 0 if none are
// free.
uint32_t allocate_context(int holders);
// A communicator of this process has the context.
bool is_context_in_use(uint32_t context);
void release_context(uint32_t context);
// True for one context in a thousand, if none are released.
bool is_throttle_point(uint32_t context);
// Starts processing context releases from ranks on other hosts.
void track_remote_releases(proto::ProgressEngine& engine);
[[gnu::cold]] Err context_exhausted();

} // namespace zipmpi::core
