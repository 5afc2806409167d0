// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// TrafficCounter: counts sends in the counters and in this rank's row of the communication matrix. With the
// parameter matrix.sizes, also by size: then entries_ stays empty, so that every send takes the path of a
// first send to its peer, and the usual path has no instruction for it.
#pragma once

#include "base/counters.hpp"
#include "os/lazy_table.hpp"
#include "proto/p2p/operation.hpp"
#include "proto/progress/event_sink.hpp"
#include "segment/traffic.hpp"
#include "transport/transport.hpp"

namespace zipmpi::proto {

class TrafficCounter {
  public:
    TrafficCounter(const segment::NodeSegment& segment, uint32_t local_index, const EventSink& events)
        : writer_(segment, local_index)
        , events_(events)
        , entries_(segment.local_ranks()) {}

    [[gnu::always_inline]] void count_send(Counters& counters, transport::Peer peer, int world_peer,
                                           uint32_t context, uint64_t bytes) {
        counters.add_owner(Counter::sends);
        counters.add_owner(Counter::send_bytes, bytes);
        wire::PeerTraffic* t = entries_[peer];
        if (t == nullptr) [[unlikely]]
            t = &entry_for(counters, peer, world_peer, bytes);
        t->count[context & 1U & ~(context >> 31U)].add(bytes);
    }
    void count_send(Counters& counters, transport::Peer peer, const MessageArgs& op) {
        count_send(counters, peer, op.world_peer, op.context, op.bytes);
    }
    void add_peer(transport::Peer peer) { entries_.grow(size_t{peer} + 1); }

    static bool counts_sizes();

  private:
    [[gnu::cold]] wire::PeerTraffic& entry_for(Counters& counters, transport::Peer peer, int world_peer,
                                               uint64_t bytes);

    wire::PeerTraffic& new_entry(int world_peer);

    segment::TrafficWriter writer_;
    const EventSink& events_;
    // Per peer; null: nothing was sent to it yet, or sizes are counted.
    os::LazyTable<wire::PeerTraffic*> entries_;
    os::LazyTable<wire::PeerTraffic*> uncached_; // per peer, if sizes are counted
};

} // namespace zipmpi::proto
