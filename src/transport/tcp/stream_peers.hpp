// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The peers of a StreamManager as their network knows them, and the way to send them offers.
#pragma once

#include "transport/transport.hpp"

#include <cstddef>
#include <span>

namespace zipmpi::transport::tcp {

class StreamPeers {
  public:
    [[nodiscard]] virtual int id_of(Peer peer) const = 0; // a world rank, or a gateway id above all ranks
    [[nodiscard]] virtual int find(int id) const = 0;     // -1: unknown
    [[nodiscard]] virtual bool has_failed(Peer peer) const = 0;
    [[nodiscard]] virtual bool can_receive(Peer peer) const = 0; // offers
    virtual void send_offer(Peer peer, std::span<const std::byte> offer) = 0;

  protected:
    ~StreamPeers() = default;
};

} // namespace zipmpi::transport::tcp
