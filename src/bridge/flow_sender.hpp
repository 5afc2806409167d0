// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Send side of all flows: sequence numbers, copies retained until they are acknowledged, chunks of long
// messages, and the acknowledgements and grants that arrive for them.
#pragma once

#include "bridge/frame_transmitter.hpp"

namespace zipmpi::bridge {

class FlowSender {
  public:
    FlowSender(const EndpointLimits& limits, EndpointIo& io, transport::NetworkListener& listener,
               PathSet& paths, FrameTransmitter& transmitter, EndpointStats& counters)
        : limits_(limits)
        , io_(io)
        , listener_(listener)
        , paths_(paths)
        , transmitter_(transmitter)
        , counters_(counters) {}

    PostStatus send(Flow& flow, const wire::Envelope& envelope, const std::byte* payload,
                    const BufferRef& data);
    PostStatus send_chunked(Flow& flow, const wire::Envelope& envelope, const std::byte* payload,
                            const BufferRef& data);
    // Sends one frame of each flow in turn while paths accept frames. Returns the number of frames.
    int drain();
    void on_frame_sent(UnackedFrame& unacked); // the network has finished with its data
    void on_ack(Flow& flow, uint64_t next, std::span<const uint64_t> seen);
    void on_grant(Flow& flow, uint64_t sequence, const wire::Grant& grant);
    void retransmit(UnackedFrame& unacked);
    // Requests the state of the receiver of each long message not heard of for silent_ns: grants may be lost.
    void probe_receivers(Flow& flow, uint64_t now, uint64_t silent_ns);
    void fail(Flow& flow); // sends in flight complete with failure

    [[nodiscard]] bool has_pending() const; // to be sent or acknowledged
    [[nodiscard]] bool has_queued() const { return !queue_.empty(); }
    // Everything is acknowledged, or all that must be before this rank exits.
    [[nodiscard]] bool idle() const { return unacknowledged_ == 0 && open_chunked_sends_ == 0; }
    [[nodiscard]] bool idle_for_exit() const {
        return unacknowledged_ == best_effort_ && open_chunked_sends_ == 0;
    }
    [[nodiscard]] uint64_t last_chunk_ns() const { return last_chunk_ns_; }

  private:
    UnackedFrame& make_first_frame(Flow& flow, const wire::Envelope& envelope, const std::byte* payload,
                                   uint64_t length);
    ChunkedSend& make_chunked_send(Flow& flow, UnackedFrame& first, const BufferRef& data);
    UnackedFrame& make_chunk(ChunkedSend& message, uint64_t bytes);
    void set_data(UnackedFrame& unacked, const BufferRef& data, uint64_t offset, uint64_t bytes);
    void queue(UnackedFrame& unacked);
    void enqueue(Flow& flow);
    bool push(Flow& flow);
    bool push_chunk(Flow& flow);
    bool transmit(UnackedFrame& unacked, int path);
    void on_acknowledged(UnackedFrame& unacked);
    void acknowledge_first(Flow& flow, uint64_t sequence);
    void acknowledge_all(Flow& flow);
    void finish_if_done(ChunkedSend& message);

    const EndpointLimits& limits_;
    EndpointIo& io_;
    transport::NetworkListener& listener_;
    PathSet& paths_;
    FrameTransmitter& transmitter_;
    EndpointStats& counters_;
    std::deque<Flow*> queue_; // flows with data to send
    uint64_t last_chunk_ns_ = 0;
    uint64_t unacknowledged_ = 0;     // frames
    uint64_t best_effort_ = 0;        // unacknowledged frames that are best effort
    uint64_t open_chunked_sends_ = 0; // in all flows
};

} // namespace zipmpi::bridge
