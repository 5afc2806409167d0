// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// RendezvousSender: long messages to ranks of this node. The rts announces the message; the receiver then
// copies it from the sender's memory and replies ack, or replies cts and gets fragments in cells.
#pragma once

#include "proto/p2p/completion.hpp"
#include "proto/p2p/operation_table.hpp"
#include "proto/p2p/path_policy.hpp"
#include "proto/p2p/skew_buffer.hpp"

#include <vector>

namespace zipmpi::proto {

class RendezvousSender {
  public:
    RendezvousSender(NodeTransports& node, PathPolicy& paths, OperationTable& table, Completion& completion)
        : node_(node)
        , paths_(paths)
        , table_(table)
        , completion_(completion)
        , skew_buffer_(node.shm.segment().local_ranks()) {}

    // Sends the rts of an operation, or of a copy of it if the receiver lags behind.
    transport::SendStatus start(Operation& op, wire::Envelope e);
    // As start(), for a receiver that has asked to hold eager messages: all bytes stay in the send buffer.
    transport::SendStatus start_held(Operation& op, wire::Envelope e);
    // Replies to an rts; the operation is no longer in the table. `unexpected`: messages that wait at the
    // receiver.
    void on_cts(Operation& op, const wire::Cts& cts, transport::Peer from, uint32_t unexpected);
    void on_ack(Operation& op, transport::Peer from, uint32_t unexpected);
    // Continues sends whose cts has arrived. Returns the number of fragments sent.
    int push_fragments() { return pipelined_.empty() ? 0 : push_pipelined(); }
    // Removes a send whose peer satisfies the predicate, or returns null.
    template <class Test>
    Operation* take_pipelined_if(const Test& failed) {
        for (auto s = pipelined_.begin(); s != pipelined_.end(); ++s) {
            if (!failed((*s)->transport_peer)) continue;
            Operation* const op = *s;
            pipelined_.erase(s);
            return op;
        }
        return nullptr;
    }
    [[nodiscard]] bool idle() const { return pipelined_.empty() && skew_buffer_.empty(); }

  private:
    // What accompanies the rts of a noncontiguous send: its first bytes, or its layout.
    enum class RtsData : uint8_t { none, first_bytes };
    transport::SendStatus send_rts(Operation& op, const wire::Envelope& e, RtsData data);
    transport::SendStatus send_rts_noncontig(Operation& op, const wire::Envelope& e, wire::Rts& rts);
    int push_pipelined();
    bool push_fragments_of(Operation& op, int& sent);

    NodeTransports& node_;
    PathPolicy& paths_;
    OperationTable& table_;
    Completion& completion_;
    SkewBuffer skew_buffer_;
    std::vector<Operation*> pipelined_; // sends whose cts has arrived
};

} // namespace zipmpi::proto
