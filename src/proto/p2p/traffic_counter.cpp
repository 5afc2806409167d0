// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/traffic_counter.hpp"

#include "base/param.hpp"
#include "base/size_histogram.hpp"

namespace zipmpi::proto {
namespace {

Param<bool> count_sizes{"matrix.sizes", false, Level::user, Scope::job_wide,
                        "count sent messages by size: variables size.N of MPI_T, and lines in matrix.file"};

} // namespace

bool TrafficCounter::counts_sizes() { return count_sizes; }

wire::PeerTraffic& TrafficCounter::entry_for(Counters& counters, transport::Peer peer, int world_peer,
                                             uint64_t bytes) {
    if (!counts_sizes()) return *(entries_[peer] = &new_entry(world_peer));
    counters.add_owner(size_histogram::counter(size_histogram::class_of(bytes)));
    uncached_.grow(size_t{peer} + 1);
    if (uncached_[peer] == nullptr) uncached_[peer] = &new_entry(world_peer);
    return *uncached_[peer];
}

wire::PeerTraffic& TrafficCounter::new_entry(int world_peer) {
    events_.raise(EventType::first_message, world_peer);
    return writer_.row_for(world_peer);
}

} // namespace zipmpi::proto
