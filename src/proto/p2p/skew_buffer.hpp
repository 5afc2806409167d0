// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Buffers sends to receivers that lag behind. Each reply to a rendezvous carries the number of unexpected
// messages at the receiver. If they accumulate and replies are slow, the sender copies messages and sends the
// copies, so that its own sends complete, until the receiver has caught up.
//
// Threads: all calls hold the engine's lock.
#pragma once

#include "os/lazy_table.hpp"
#include "proto/p2p/operation.hpp"

#include <cstdint>
#include <vector>

namespace zipmpi::proto {

class SkewBuffer {
  public:
    explicit SkewBuffer(uint32_t peers)
        : peers_(peers) {}
    ~SkewBuffer();
    SkewBuffer(const SkewBuffer&) = delete;
    SkewBuffer& operator=(const SkewBuffer&) = delete;

    // A reply to a message of `bytes` arrived at now_ns; the receiver has `unexpected` unexpected messages.
    void on_reply(uint32_t peer, uint32_t unexpected, uint64_t bytes, uint64_t now_ns);
    // A copy to be sent in place of this operation, or null if the operation itself is to be sent.
    Operation* copy_for(const Operation& send) {
        return peers_[send.transport_peer].receiver_behind && !send.synchronous ? make_copy(send) : nullptr;
    }
    void discard(Operation& copy);
    [[nodiscard]] bool empty() const { return copies_ == 0; }

  private:
    struct PeerSkew {
        bool receiver_behind = false;
        uint8_t timely_replies = 0; // consecutive replies without unexpected messages
        uint64_t last_reply_ns = 0;
    };
    struct SendCopy;

    [[gnu::cold]] Operation* make_copy(const Operation& send);

    os::LazyTable<PeerSkew> peers_;
    std::vector<SendCopy*> spare_; // reused: fresh memory costs page faults
    uint64_t bytes_ = 0;           // in copies and spares
    uint64_t copies_ = 0;
};

} // namespace zipmpi::proto
