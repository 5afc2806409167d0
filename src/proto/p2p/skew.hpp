// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Senders that are ahead of their receivers. A receiver says with every answer to a rendezvous how many
// messages lie there unreceived. If they pile up and answers come slowly, the sender stops waiting: it copies
// messages and sends on behalf of the copies, until the receiver is in time again.
//
// Threads: under the lane's lock.
#pragma once

#include "proto/p2p/operation.hpp"

#include <cstdint>
#include <vector>

namespace zipmpi::proto {

class Skew {
  public:
    explicit Skew(uint32_t peers)
        : peers_(peers) {}
    ~Skew();
    Skew(const Skew&) = delete;
    Skew& operator=(const Skew&) = delete;

    // An answer to a message of so many bytes came now, while so many lay there unreceived.
    void answered(uint32_t peer, uint32_t unreceived, uint64_t bytes, uint64_t now_ns);
    // A copy to be sent in place of this operation, or null: it should wait for its receiver.
    Operation* copy_for(const Operation& send) {
        return peers_[send.transport_peer].behind && !send.synchronous ? make_copy(send) : nullptr;
    }
    void discard(Operation& copy);
    [[nodiscard]] bool empty() const { return copies_ == 0; }

  private:
    struct Peer {
        bool behind = false;
        uint8_t in_time = 0; // answers in a row that found the receive posted
        uint64_t last_answer_ns = 0;
    };
    struct Copy;

    [[gnu::cold]] Operation* make_copy(const Operation& send);

    std::vector<Peer> peers_;
    std::vector<Copy*> spare_; // kept for the next ones: fresh memory is slow
    uint64_t bytes_ = 0;       // in copies and spares
    uint64_t copies_ = 0;
};

} // namespace zipmpi::proto
