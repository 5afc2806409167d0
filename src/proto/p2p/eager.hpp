// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// EagerSender: short messages to ranks of this node, which go into the receiver's ring, or into a cell, at
// once.
#pragma once

#include "proto/p2p/node_transports.hpp"
#include "proto/p2p/payload_slice.hpp"

namespace zipmpi::proto {

class EagerSender {
  public:
    explicit EagerSender(NodeTransports& node)
        : node_(node) {}

    // Sends the message. would_block: no side effect.
    transport::SendStatus send(transport::Peer peer, const wire::Envelope& e, const MessageArgs& op) {
        if (op.bytes > wire::inline_max) {
            const PayloadSlice all{op, 0, op.bytes};
            return node_.shm.send_bulk(peer, e, nullptr, 0, all.bulk());
        }
        std::byte packed[wire::inline_max];
        if (op.layout != nullptr) load_payload(op, 0, packed, op.bytes);
        const transport::SendStatus sent =
            node_.shm.send_inline(peer, e, op.layout != nullptr ? packed : op.buffer, op.bytes);
        if (sent == transport::SendStatus::ok) node_.counters().add_owner(Counter::inline_messages);
        return sent;
    }

  private:
    NodeTransports& node_;
};

} // namespace zipmpi::proto
