// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// ArrivalDispatcher: passes messages from peers to the component that handles their kind. Their contents are
// validated; invalid ones are dropped.
#pragma once

#include "proto/p2p/cancellation.hpp"

namespace zipmpi::proto {

class ArrivalDispatcher {
  public:
    ArrivalDispatcher(const PeerDirectory& peers, OperationTable& table, MessageReceiver& receiver,
                      MessageSender& sender, Cancellation& cancellation)
        : peers_(peers)
        , table_(table)
        , receiver_(receiver)
        , sender_(sender)
        , cancellation_(cancellation) {}

    void dispatch(const transport::Arrival& a);
    // A rank on another host has released a context that was allocated on this node, or revoked one.
    void set_on_context_release(void (*call)(uint32_t context)) { on_context_release_ = call; }
    void set_on_revoke(void (*call)(uint32_t context)) { on_revoke_ = call; }

  private:
    void on_rts(const transport::Arrival& a);
    void on_cts(const transport::Arrival& a);
    void on_fragment(const transport::Arrival& a);
    void on_ack(const transport::Arrival& a);
    void on_cancel(const transport::Arrival& a);
    void on_cancelled(const transport::Arrival& a);
    void on_coop_offer(const transport::Arrival& a);
    void on_context(const transport::Arrival& a);
    void on_hold(const transport::Arrival& a);
    [[nodiscard]] Operation* find_operation(const transport::Arrival& a, wire::OperationId id,
                                            Operation::Kind kind) const;

    const PeerDirectory& peers_;
    OperationTable& table_;
    MessageReceiver& receiver_;
    MessageSender& sender_;
    Cancellation& cancellation_;
    void (*on_context_release_)(uint32_t) = nullptr;
    void (*on_revoke_)(uint32_t) = nullptr;
};

} // namespace zipmpi::proto
