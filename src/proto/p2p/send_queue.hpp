// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// SendQueue: messages that found their ring full or their connection not ready, in order of sending per peer.
#pragma once

#include "os/lazy_table.hpp"
#include "proto/p2p/operation.hpp"
#include "transport/transport.hpp"

#include <cstring>
#include <deque>

namespace zipmpi::proto {

class SendQueue {
  public:
    // A send to be started, or a control message.
    struct QueuedSend {
        transport::Peer peer;
        Operation* op; // null: the control message below
        wire::Envelope envelope;
        std::byte payload[16];
        size_t bytes;
    };

    explicit SendQueue(uint32_t peers)
        : queued_(peers)
        , full_in_pass_(peers) {}

    [[nodiscard]] bool empty() const { return queue_.empty(); }
    // Whether a message to the peer has to queue, because it would overtake others.
    [[nodiscard]] bool has(transport::Peer peer) const { return (queued_[peer] & ~held) != 0; }
    // Whether an eager message to the peer may complete as soon as it is sent: none is queued or held.
    [[nodiscard]] bool is_open(transport::Peer peer) const { return queued_[peer] == 0; }
    // From now on all messages to the peer queue.
    void block(transport::Peer peer) { ++queued_[peer]; }
    // The peer has asked to hold eager messages, or to resume.
    void hold(transport::Peer peer) { queued_[peer] |= held; }
    void resume(transport::Peer peer) { queued_[peer] &= ~held; }
    [[nodiscard]] bool is_held(transport::Peer peer) const { return (queued_[peer] & held) != 0; }
    void add_peer(transport::Peer peer) {
        queued_.grow(size_t{peer} + 1);
        full_in_pass_.grow(size_t{peer} + 1);
    }
    void push(Operation& op) {
        queue_.push_back({op.transport_peer, &op, {}, {}, 0});
        ++queued_[op.transport_peer];
    }
    void push_control(transport::Peer peer, const wire::Envelope& e, const void* payload, size_t bytes) {
        QueuedSend p{peer, nullptr, e, {}, bytes};
        static_assert(sizeof p.payload >= sizeof(wire::Cts));
        std::memcpy(p.payload, payload, bytes);
        queue_.push_back(p);
        ++queued_[peer];
    }
    // Removes the first message that satisfies the predicate. Returns false if there is none.
    template <class Test>
    bool take_if(const Test& test, QueuedSend& taken) {
        for (auto p = queue_.begin(); p != queue_.end(); ++p) {
            if (!test(*p)) continue;
            taken = *p;
            --queued_[p->peer];
            queue_.erase(p);
            return true;
        }
        return false;
    }
    // Retries all messages in order. try_send may queue others, which are not retried now. Messages to a peer
    // that would block stay queued. Returns the number of messages sent.
    template <class TrySend>
    int retry(const TrySend& try_send) {
        int sent = 0;
        ++pass_;
        const size_t n = queue_.size();
        size_t kept = 0;
        for (size_t i = 0; i < n; ++i) {
            const QueuedSend p = queue_[i];
            if (full_in_pass_[p.peer] == pass_ || try_send(p) == transport::SendStatus::would_block) {
                full_in_pass_[p.peer] = pass_;
                queue_[kept++] = p;
            } else {
                --queued_[p.peer];
                ++sent;
            }
        }
        queue_.erase(queue_.begin() + static_cast<ptrdiff_t>(kept),
                     queue_.begin() + static_cast<ptrdiff_t>(n));
        return sent;
    }

  private:
    static constexpr uint32_t held = uint32_t{1} << 31;

    std::deque<QueuedSend> queue_;
    os::LazyTable<uint32_t> queued_;       // entries of queue_ per peer, plus `held`
    os::LazyTable<uint64_t> full_in_pass_; // per peer: the last pass that found its ring full
    uint64_t pass_ = 0;
};

} // namespace zipmpi::proto
