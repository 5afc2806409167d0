// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What an endpoint needs from outside: paths and a clock, limits, and the numbers of its peers; and what it
// counts.
#pragma once

#include "transport/frame_network.hpp"
#include "wire/frame_layout.hpp"

#include <vector>

namespace zipmpi::bridge {

using transport::BufferRef;
using transport::FrameTicket;
using transport::NetworkOperation;
using transport::OpStatus;
using transport::Peer;
using transport::PostStatus;

struct EndpointLimits {
    uint64_t eager_bytes = 2 * wire::frame_chunk;  // data of a long message sent before it is granted
    uint64_t retained = uint64_t{8} << 20;         // bytes of copies retained per flow
    uint64_t path_bytes = uint64_t{2} << 20;       // bytes at a gateway that it has not forwarded
    uint64_t ack_bytes = 4 * wire::frame_chunk;    // an ack is due after this many bytes,
    uint32_t ack_messages = wire::flow_window / 4; // messages,
    uint64_t ack_ns = 1'000'000;                   // or nanoseconds
    uint64_t heartbeat_ns = 200'000'000;           // a path idle for this long is probed
    uint64_t heartbeat_timeout_ns = 1'000'000'000; // a path without reply for this long is down
    // Without acknowledgement although the path is up: retransmit.
    uint64_t retransmit_ns = uint64_t{1'000'000'000};
    uint64_t partition_timeout_ns = uint64_t{30'000'000'000}; // without any path: the peer has failed
};

class EndpointIo {
  public:
    // Copies the head; if in flight, the data must stay valid until Endpoint::on_frame_sent(ticket).
    virtual PostStatus send(int path, std::span<const std::byte> head, std::span<const std::byte> data,
                            FrameTicket* ticket) = 0;
    virtual void close_path(int path) = 0; // no reply: drops everything on the path
    // Memory returned by Endpoint::receive_buffer_for().
    virtual void revoke_buffer(std::span<const std::byte> memory) = 0;
    // A rank of the job that is reached through gateways.
    [[nodiscard]] virtual bool is_relayed(int id) const = 0;
    [[nodiscard]] virtual std::vector<int> paths_to(int world_rank) const = 0;
    [[nodiscard]] virtual uint64_t now_ns() const = 0;

  protected:
    ~EndpointIo() = default;
};

// Numbers the peers of all networks of a rank, flows among them.
class FlowNumbering {
  public:
    virtual Peer number_flow(Peer flow) = 0; // by which events of the flow name the peer

  protected:
    ~FlowNumbering() = default;
};

struct EndpointStats {
    uint64_t messages_out = 0, messages_in = 0, frames_out = 0, frames_in = 0, control_out = 0;
    uint64_t duplicates = 0, retransmitted = 0, rejected = 0, paths_lost = 0;
};

} // namespace zipmpi::bridge
