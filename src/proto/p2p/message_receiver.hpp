// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// MessageReceiver: matches messages with receives and delivers them. Messages from this process, from the
// node and from the network share one matcher.
#pragma once

#include "proto/p2p/network_port.hpp"
#include "proto/p2p/rendezvous_recv.hpp"
#include "proto/p2p/unexpected_budget.hpp"

namespace zipmpi::proto {

class MessageReceiver {
  public:
    MessageReceiver(NodeTransports& node, EngineLock& lock, NetworkPort& network, ControlSender& control,
                    PathPolicy& paths, OperationTable& table, Completion& completion);
    MessageReceiver(const MessageReceiver&) = delete;
    MessageReceiver& operator=(const MessageReceiver&) = delete;

    void start(Operation& recv);
    // Receives a message that is in its ring already if it is inline, from this rank of the node, and no
    // other receive or message is pending; `pattern` has context, source and tag of the receive. Now and then
    // returns false nevertheless, so that the caller makes progress on everything else, too. On success
    // `pattern` has the envelope of the message. `wildcard`: the tag that matches any.
    [[gnu::always_inline]] bool try_recv_inline(int world_peer, wire::Envelope& pattern, std::byte* to,
                                                uint64_t capacity, int wildcard = any_tag) {
        const int local = node_.shm.peer_of(world_peer);
        if (local < 0 || !matcher_.empty() || ++inline_recvs_ % progress_interval == 0) [[unlikely]]
            return false;
        const auto take = [&](const wire::Envelope& sent, const std::byte* payload)
            __attribute__((always_inline)) {
            // Private copies: check and use must see the same values even if the sender misbehaves.
            const uint8_t bytes = sent.inline_bytes;
            const int32_t tag = sent.tag;
            if (sent.kind != wire::MessageKind::eager || (sent.flags & wire::flag_synchronous) != 0 ||
                sent.context != pattern.context || sent.source != pattern.source ||
                (tag != pattern.tag && pattern.tag != wildcard) || bytes > wire::inline_max ||
                bytes > capacity) [[unlikely]]
                return false;
            copy_short(to, payload, bytes);
            pattern.tag = tag;
            pattern.inline_bytes = bytes;
            return true;
        };
        if (!node_.shm.receive_rings().take_inline(static_cast<transport::Peer>(local), 1, take))
            return false;
        Counters& counters = node_.counters();
        counters.add_owner(Counter::receives);
        counters.add_owner(Counter::receive_bytes, pattern.inline_bytes);
        return true;
    }
    // Completes posted receives with the inline messages that wait in the ring of this rank of the node, up
    // to the first message that needs more than that. Unlike progress(), looks at nothing else.
    void receive_ready(int world_peer);
    // A message has arrived with all its bytes, or another one: delivers or stores it.
    void on_eager(const transport::Arrival& a);
    void on_message(const IncomingMessage& message);
    // Delivers a message to its receive, which has been removed from the matcher.
    void accept(Operation& recv, const IncomingMessage& message);
    // A send of this process to itself: copied once, without a transport.
    void receive_from_self(Operation& send);

    // For reports: an unexpected message that matches except for its tag or communicator, or null.
    [[nodiscard]] const IncomingMessage* near_miss(const Operation& recv) const;
    [[nodiscard]] Matcher& matcher() { return matcher_; }
    [[nodiscard]] const UnexpectedBudget& budget() const { return budget_; }
    [[nodiscard]] const Matcher& matcher() const { return matcher_; }
    [[nodiscard]] RendezvousReceiver& rendezvous() { return rendezvous_; }

  private:
    void begin(Operation& recv, const wire::Envelope& e, transport::Peer from, uint64_t bytes);
    void accept_eager(Operation& recv, const wire::Envelope& e, transport::Peer from, const std::byte* data,
                      uint64_t bytes);
    void count_unexpected(const IncomingMessage& message);
    void store(const IncomingMessage& message);
    [[gnu::cold]] void store_without_memory(const IncomingMessage& message);
    [[noreturn]] [[gnu::cold]] void exit_without_memory(const IncomingMessage& message) const;
    void fetch_from_network(Operation& recv, const IncomingMessage& message);

    static constexpr uint32_t progress_interval = 32;

    NodeTransports& node_;
    EngineLock& lock_;
    NetworkPort& network_;
    ControlSender& control_;
    Completion& completion_;
    UnexpectedBudget budget_;
    Matcher matcher_; // refers to the budget
    RendezvousReceiver rendezvous_;
    StagingBuffer staging_;
    uint32_t inline_recvs_ = 0; // calls of try_recv_inline()
};

} // namespace zipmpi::proto
