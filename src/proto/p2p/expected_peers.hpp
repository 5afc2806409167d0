// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Tells the shared-memory transport from which peers messages are expected, for `shm.poll_mode=expected`,
// which polls no other rings. The other modes pay one test per call. Counted are:
//
//   posted receive           from its source, or any source, until it is matched or unposted
//   operation that its       from that peer: cts, ack, coop_offer, cancelled, fragments; until the data is
//   peer will name           being sent or the operation is done
//   probe                    from its source, while it polls
//
// Messages that no operation of the receiver waits for are not counted: an eager message without a receive,
// an rts, a synchronous send. For two events the sender notifies the receiver instead: it waits for space in
// a ring or for a cell (transport/shm), or for the reply to a cancel (cancellation.hpp).
#pragma once

#include "proto/p2p/operation.hpp"

namespace zipmpi::transport::shm {
class ShmTransport;
}

namespace zipmpi::proto {

class ExpectedPeers {
  public:
    ExpectedPeers() = default; // counts nothing
    explicit ExpectedPeers(transport::shm::ShmTransport& shm);

    [[nodiscard]] bool is_enabled() const { return shm_ != nullptr; }
    // A receive was posted (1) or removed (-1). world_source: as in Operation::world_peer
    void count_recv(int source, int world_source, int change) {
        if (shm_ != nullptr) [[unlikely]]
            apply_recv(source, world_source, change);
    }
    // An operation that a peer will name was added (1) or removed (-1). peer: as in Operation::transport_peer
    void count_reply(uint32_t peer, int change) {
        if (shm_ != nullptr) [[unlikely]]
            apply_reply(peer, change);
    }

  private:
    [[gnu::cold]] void apply_recv(int source, int world_source, int change);
    [[gnu::cold]] void apply_reply(uint32_t peer, int change);
    transport::shm::ShmTransport* shm_ = nullptr; // null: the poll mode does not count
};

// Counts a probe for its lifetime.
class ExpectedProbe {
  public:
    ExpectedProbe(transport::shm::ShmTransport& shm, int source, int world_source)
        : expected_peers_(shm)
        , source_(source)
        , world_source_(world_source) {
        expected_peers_.count_recv(source_, world_source_, 1);
    }
    ~ExpectedProbe() { expected_peers_.count_recv(source_, world_source_, -1); }
    ExpectedProbe(const ExpectedProbe&) = delete;
    ExpectedProbe& operator=(const ExpectedProbe&) = delete;

  private:
    ExpectedPeers expected_peers_;
    int source_;
    int world_source_;
};

} // namespace zipmpi::proto
