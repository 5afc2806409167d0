// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Frames on their way through a gateway.
#pragma once

#include "gateway/counters.hpp"
#include "transport/frame_network.hpp"
#include "transport/tcp/frame_stream.hpp"
#include "wire/frame_layout.hpp"

#include <vector>

namespace zipmpi::gateway {

// A frame that has just arrived from a network or over a link; its bytes are valid during the call.
struct IncomingFrame {
    int network; // -1: a link
    int from;    // id of the previous hop
    std::span<const std::byte> head;
    std::span<const std::byte> data;
    void* descriptor;                         // of the network; null: none, or a link
    transport::tcp::FrameBuffer* link_buffer; // of the link; null: none, or a network
    transport::tcp::FrameBuffer* spliced;     // holds the end of the data; null: all is in memory

    [[nodiscard]] bool can_be_kept() const { return descriptor != nullptr || link_buffer != nullptr; }
};

// A frame queued until its network or link accepts it.
struct InTransitFrame : transport::FrameTicket {
    std::vector<std::byte> head;
    std::vector<std::byte> copy;
    std::span<const std::byte> data;
    void* descriptor = nullptr; // of the network that it came from; null: not kept
    transport::tcp::FrameBuffer* link_buffer = nullptr;
    transport::tcp::FrameBuffer* spliced = nullptr; // holds the end of the data
    int from = -1;                                  // id of the previous hop
    int network = -1;                               // it arrived from; -1: a link
    uint64_t bytes = 0;

    [[nodiscard]] bool keeps_source() const { return descriptor != nullptr || link_buffer != nullptr; }
};

// Keeps the data where it is, if possible. `header` replaces that of the frame.
InTransitFrame* make_transit(const IncomingFrame& incoming, const wire::Frame& header,
                             GatewayCounters& counters);

// Sends frames over links to other gateways.
class LinkSender {
  public:
    // Returns false if the link is down. Otherwise Forwarder::on_frame_sent() follows, or has been called.
    virtual bool send(int link, InTransitFrame& transit) = 0;
    virtual void release(transport::tcp::FrameBuffer* buffer) = 0; // of a frame that arrived over a link

  protected:
    ~LinkSender() = default;
};

} // namespace zipmpi::gateway
