// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Tells the shared memory transport from whom something is expected, for the design of queues that looks at
// no other rings (`shm.queues=expected`). The others pay one test. What is counted:
//
//   a posted receive        from its source, or from anybody, until it is matched or withdrawn
//   an operation that its   from that peer: clear-to-send, acknowledgement, help with a copy, withdrawal,
//   peer will name          fragments; until it is on its way or done
//   a probe                 from its source, while it looks
//
// Nobody counts what only lies there: a message without a receive, an rts, a synchronous send. Two things
// that a sender waits for cannot be counted by the receiver, so the sender calls it: room in a ring or a cell
// (transport/shm), and the answer to a withdrawal (cancel.cpp).
#pragma once

#include "proto/p2p/operation.hpp"

namespace zipmpi::transport::shm {
class Transport;
}

namespace zipmpi::proto {

class Expecting {
  public:
    Expecting() = default; // counts nothing
    explicit Expecting(transport::shm::Transport& shm);

    [[nodiscard]] bool counts() const { return shm_ != nullptr; }
    // A receive is posted (1), or is so no longer (-1). world_source: as in Operation::world_peer
    void receive(int source, int world_source, int change) {
        if (shm_ != nullptr) [[unlikely]]
            count_receive(source, world_source, change);
    }
    // A peer will name an operation (1), or does so no longer (-1). peer: as in Operation::transport_peer
    void answer(uint32_t peer, int change) {
        if (shm_ != nullptr) [[unlikely]]
            count_answer(peer, change);
    }

  private:
    [[gnu::cold]] void count_receive(int source, int world_source, int change);
    [[gnu::cold]] void count_answer(uint32_t peer, int change);
    transport::shm::Transport* shm_ = nullptr; // null: its design does not count
};

// While a probe looks for a message of this source.
class ExpectingProbe {
  public:
    ExpectingProbe(transport::shm::Transport& shm, int source, int world_source)
        : expecting_(shm)
        , source_(source)
        , world_source_(world_source) {
        expecting_.receive(source_, world_source_, 1);
    }
    ~ExpectingProbe() { expecting_.receive(source_, world_source_, -1); }
    ExpectingProbe(const ExpectingProbe&) = delete;
    ExpectingProbe& operator=(const ExpectingProbe&) = delete;

  private:
    Expecting expecting_;
    int source_;
    int world_source_;
};

} // namespace zipmpi::proto
