// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Cancellation of operations.
//
// A receive is canceled locally, and so is a send that is queued for space in a ring or waits for a receive
// of this process. For a send whose envelope has left, the receiver gets a `cancel`. It replies `cancelled`
// if the message is unmatched; otherwise the cts or ack that is due completes the send normally.
//
// The network completes a long send identically whether the receiver fetched or dropped the data, before or
// after the receiver's reply. So a receiver on another host always replies, and a canceled send waits for the
// reply too.
#pragma once

#include "proto/p2p/message_sender.hpp"

namespace zipmpi::proto {

class Cancellation {
  public:
    Cancellation(const PeerDirectory& peers, NetworkPort& network, ControlSender& control,
                 OperationTable& table, Matcher& matcher, RemoteSender& remote, Completion& completion)
        : peers_(peers)
        , network_(network)
        , control_(control)
        , table_(table)
        , matcher_(matcher)
        , remote_(remote)
        , completion_(completion) {}

    // The operation completes soon, canceled or normally. An unmatched receive and a send that is still
    // queued are canceled immediately.
    void cancel(Operation& op);
    void cancel_send(Operation& op);
    // At the receiver: a sender asks to cancel an unmatched message.
    void on_cancel(const wire::Cancel& request, transport::Peer from);
    // At the sender: the receiver's reply for this send.
    void on_cancelled(Operation& op, transport::Peer from, uint32_t outcome);

    // The sender's operation of an unexpected message; 0: the sender does not wait for a reply.
    static wire::OperationId sender_operation(const IncomingMessage& m) {
        if (m.envelope.kind == wire::MessageKind::rts) return m.sender;
        return (m.envelope.flags & wire::flag_synchronous) != 0 ? m.envelope.sync_id : 0;
    }

  private:
    const PeerDirectory& peers_;
    NetworkPort& network_;
    ControlSender& control_;
    OperationTable& table_;
    Matcher& matcher_;
    RemoteSender& remote_;
    Completion& completion_;
};

} // namespace zipmpi::proto
