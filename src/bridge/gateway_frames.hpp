// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Passes frames and connections of gateways from the network of a rank to its endpoint.
#pragma once

#include "bridge/endpoint.hpp"
#include "bridge/gateway_paths.hpp"

namespace zipmpi::bridge {

class GatewayFrames final : public transport::FrameListener {
  public:
    GatewayFrames(uint64_t job, Endpoint& endpoint, GatewayPaths& paths)
        : job_(job)
        , endpoint_(endpoint)
        , paths_(paths) {}

    bool frame_arrived(const transport::FrameArrival& frame) override;
    void frame_sent(FrameTicket* ticket) override;
    void peer_connected(Peer peer, int id) override;
    std::byte* receive_buffer_for(std::span<const std::byte> head, size_t bytes) override;

  private:
    void on_route_update(int path, std::span<const std::byte> head, std::span<const std::byte> data);

    uint64_t job_;
    Endpoint& endpoint_;
    GatewayPaths& paths_;
};

} // namespace zipmpi::bridge
