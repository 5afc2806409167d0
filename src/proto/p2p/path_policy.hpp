// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// PathPolicy: which protocol a message between two ranks of a node uses, by size, pair and experience.
#pragma once

#include "os/lazy_table.hpp"
#include "proto/p2p/node_transports.hpp"
#include "proto/p2p/operation.hpp"
#include "proto/p2p/rts_policy.hpp"
#include "proto/progress/wait_tuning.hpp"
#include "proto/select/cma_heuristic.hpp"
#include "proto/select/peer_thresholds.hpp"

namespace zipmpi::proto {

class PathPolicy {
  public:
    PathPolicy(NodeTransports& node, uint32_t local_index, const WaitTuning& load)
        : node_(node)
        , load_(load)
        , thresholds_(node.shm.segment(), local_index)
        , cma_heuristics_(node.shm.segment().local_ranks())
        , rts_(node.shm.segment().local_ranks())
        , layout_rts_(node.shm.segment().local_ranks()) {}

    // Sizes at which the path of messages to a peer changes.
    [[nodiscard]] const Thresholds& thresholds(transport::Peer peer) {
        return load_.awake_share_cpus() ? thresholds_.when_oversubscribed() : thresholds_.of(peer);
    }
    [[nodiscard]] bool is_eager(const MessageArgs& op, transport::Peer peer) {
        return op.bytes <= wire::multislot_max || is_eager_in_cell(op, peer);
    }
    // Whether the rts of a noncontiguous send carries its layout, for a cooperative copy.
    [[nodiscard]] bool should_send_layout(const Operation& send) {
        const Thresholds& t = thresholds(send.transport_peer);
        return t.should_coop_copy(send.bytes, {.mean_segment = mean_segment(send.layout)}) &&
               node_.cma.can_read(send.transport_peer) && !layout_rts_[send.transport_peer].should_skip_rts();
    }
    // Experience with the rendezvous of sends like this one.
    [[nodiscard]] RtsPolicy& rts_of(const Operation& send, transport::Peer peer) {
        return (send.layout == nullptr ? rts_ : layout_rts_)[peer];
    }
    // Null while ranks share CPUs: the time of a copy contains that of other ranks then.
    [[nodiscard]] CmaHeuristic* cma_heuristic(transport::Peer peer) {
        return load_.oversubscribed() ? nullptr : &cma_heuristics_[peer];
    }

    // Whether messages to a receiver that lags behind are copied and sent from the copies. Not while ranks
    // share CPUs: the receiver lags because others have its CPU, and a copy takes time from it.
    [[nodiscard]] bool may_copy_ahead() const { return !load_.oversubscribed(); }

    static uint64_t mean_segment(const packing::Layout* layout) { // 0: contiguous
        return layout == nullptr ? 0 : static_cast<uint64_t>(layout->size / layout->runs);
    }

  private:
    [[gnu::noinline]] [[nodiscard]] bool is_eager_in_cell(const MessageArgs& op, transport::Peer peer) {
        const Thresholds& t = thresholds(peer);
        if (op.layout != nullptr) return op.bytes <= t.noncontig_eager_limit;
        if (op.bytes >= t.arena_min && node_.arena.offset_of(op.buffer, op.bytes) != 0) return false;
        if (op.bytes <= t.eager_limit) return true;
        return op.bytes <= node_.shm.caps().bulk_max && rts_[peer].should_skip_rts();
    }

    NodeTransports& node_;
    const WaitTuning& load_;
    PeerThresholds thresholds_;
    os::LazyTable<CmaHeuristic> cma_heuristics_; // per peer, like the following
    os::LazyTable<RtsPolicy> rts_;
    os::LazyTable<RtsPolicy> layout_rts_; // of rts with a layout
};

} // namespace zipmpi::proto
