// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Receive side of all flows. Messages are delivered once and in order; those that overtake others are kept.
// Acknowledgements and grants that are due go out together. The sender respects the window and the grants:
// frames beyond them are dropped.
#pragma once

#include "bridge/frame_transmitter.hpp"

#include <unordered_map>

namespace zipmpi::bridge {

class FlowTable;

class FlowReceiver {
  public:
    static constexpr uint64_t never = ~uint64_t{0};

    FlowReceiver(const EndpointLimits& limits, EndpointIo& io, transport::NetworkListener& listener,
                 FrameTransmitter& transmitter, EndpointStats& counters)
        : limits_(limits)
        , io_(io)
        , listener_(listener)
        , transmitter_(transmitter)
        , counters_(counters) {}

    void on_message(Flow& flow, const FrameView& view);
    void on_chunk(Flow& flow, const FrameView& view);
    void fetch(ChunkedReceive& message, const BufferRef& to);
    void drop(ChunkedReceive& message);
    void fail(Flow& flow); // receives in flight complete with failure
    // The receive of a long message announced by rts_arrived(); null: not of this endpoint.
    [[nodiscard]] ChunkedReceive* find(const transport::IncomingBulk& bytes) const;
    // Destination of a chunk in the user's memory; null if no receive is posted or it is not contiguous. If
    // exposed, the network may write to it until it is revoked.
    [[nodiscard]] std::byte* destination_of(const Flow& flow, const wire::Frame& chunk, size_t bytes) const;
    [[nodiscard]] std::byte* expose_destination(const Flow& flow, const wire::Frame& chunk, size_t bytes);

    // Sends the state of a long message whose first frame has arrived.
    void send_receive_state(Flow& flow, uint64_t sequence);
    // Resends acknowledgements and grants that a lost path may have carried.
    void send_state(Flow& flow);
    // Sends acks and grants due since before these times.
    void send_due(const FlowTable& flows, uint64_t acks_until, uint64_t grants_until);
    // Repeats grants of long messages not heard of for silent_ns.
    void repeat_grants(Flow& flow, uint64_t now, uint64_t silent_ns);
    [[nodiscard]] uint64_t next_due_ns() const { return next_due_ns_; } // never: nothing is due
    [[nodiscard]] bool has_open_receives() const { return !receives_.empty(); }
    [[nodiscard]] uint64_t last_chunk_ns() const { return last_chunk_ns_; }

  private:
    void deliver(Flow& flow, const wire::Frame& frame, const wire::MessageHead& head,
                 std::span<const std::byte> payload, std::span<const std::byte> data);
    void deliver_chunked(Flow& flow, const wire::Frame& frame, const transport::Arrival& arrival,
                         std::span<const std::byte> data);
    ChunkedReceive& make_receive(Flow& flow, const wire::Frame& frame);
    void deliver_reordered(Flow& flow);
    void store(ChunkedReceive& message, uint64_t offset, std::span<const std::byte> data);
    void place_chunk(ChunkedReceive& message, uint64_t offset, std::span<const std::byte> data);
    void finish_if_complete(ChunkedReceive& message);
    void close_receive(ChunkedReceive& message);
    void schedule_ack(Flow& flow, uint64_t bytes);
    bool send_ack(Flow& flow);
    bool send_grant(Flow& flow, uint64_t sequence, const wire::Grant& grant);
    bool send_grant(ChunkedReceive& message);
    void set_due(uint64_t ns) { next_due_ns_ = std::min(next_due_ns_, ns); }

    const EndpointLimits& limits_;
    EndpointIo& io_;
    transport::NetworkListener& listener_;
    FrameTransmitter& transmitter_;
    EndpointStats& counters_;
    std::unordered_map<const transport::IncomingBulk*, std::unique_ptr<ChunkedReceive>> receives_;
    uint64_t next_due_ns_ = never; // when the first ack or grant is due
    uint64_t last_chunk_ns_ = 0;
};

} // namespace zipmpi::bridge
