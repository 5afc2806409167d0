// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/local_rank.hpp"

#include "base/param.hpp"
#include "os/membarrier.hpp"

#include <unistd.h>

namespace zipmpi::transport::shm {
namespace {

Param<std::string> poll_mode_param{
    "shm.poll_mode",
    "hybrid",
    "hybrid|all_rings|expected|mpsc",
    Level::tuner,
    Scope::job_wide,
    "how a rank detects messages of its node: polls the rings of a few senders and a bitmap for the others "
    "(hybrid), all rings (all_rings), those from which it expects something (expected), or one ring that all "
    "senders write (mpsc)"};

PollMode parse_poll_mode(const std::string& text) {
    if (text == "all_rings") return PollMode::all_rings;
    if (text == "expected") return PollMode::expected;
    return text == "mpsc" ? PollMode::mpsc : PollMode::hybrid;
}

} // namespace

bool reserve_mpsc_ring(const segment::NodeSegment& segment, Peer receiver) {
    const uint64_t bytes = (wire::mpsc_ring_slots(segment.local_ranks()) + 2) * wire::cache_line;
    return segment.reserve(segment.geometry().ring_offset(receiver, 0), bytes);
}

LocalRank LocalRank::make(const segment::NodeSegment& segment, uint32_t index) {
    LocalRank own{segment, segment.block(index), index, parse_poll_mode(poll_mode_param.get()),
                  os::register_membarrier()};
    own.block.pid.store(getpid(), std::memory_order_seq_cst); // NodeInformation::notify() follows
    if (own.uses_membarrier && enough_cpus(segment))
        own.block.uses_membarrier.store(1, std::memory_order_seq_cst);
    // Without memory for its own queue, an mpsc receiver could not detect any message.
    if (own.mode == PollMode::mpsc &&
        (segment.local_ranks() > wire::mpsc_max_ranks || !reserve_mpsc_ring(segment, index)))
        own.mode = PollMode::hybrid;
    return own;
}

} // namespace zipmpi::transport::shm
