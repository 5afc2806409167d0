// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Endpoint of all flows of a rank to and from ranks in other clusters. Paths (gateways) may lose, duplicate,
// reorder and delay frames, fail and return; the layer above receives every message once and in order. The
// endpoint has no descriptors and no clock: EndpointIo provides paths and time.
//
// A short message is sent immediately, with a copy that is retained until it is acknowledged. Of a long one
// the first chunks are sent immediately and the rest when the receive is posted; it stays in the user's
// memory. The window of a flow counts first frames only, so a long message without a posted receive blocks no
// other.
//
// Threads: one at a time.
#pragma once

#include "bridge/flow_recovery.hpp"

namespace zipmpi::bridge {

struct EndpointConfig {
    int own_id = 0;
    uint64_t job = 0;
    int paths = 0;
    EndpointLimits limits{};
    FlowNumbering* numbering = nullptr; // null: events name peers by flow()
};

class Endpoint {
  public:
    Endpoint(const EndpointConfig& config, transport::NetworkListener& listener, EndpointIo& io);
    Endpoint(const Endpoint&) = delete; // its components refer to each other
    Endpoint& operator=(const Endpoint&) = delete;

    // The flow to and from a rank, dense from 0.
    Peer flow(int world_rank) { return flows_.with(world_rank).index; }
    [[nodiscard]] int rank_of(Peer flow) const { return flows_[flow].world_rank; }
    void fail_peer(int world_rank); // operations in flight to and from it complete with failure
    PostStatus send(Peer flow, const wire::Envelope& envelope, const std::byte* payload,
                    const BufferRef& data) {
        return sender_.send(flows_[flow], envelope, payload, data);
    }
    PostStatus send_chunked(Peer flow, const wire::Envelope& envelope, const std::byte* payload,
                            const BufferRef& data) {
        return sender_.send_chunked(flows_[flow], envelope, payload, data);
    }
    // Return false if the message did not arrive here.
    bool fetch(const transport::IncomingBulk& message, const BufferRef& to);
    bool drop(const transport::IncomingBulk& message);

    void on_frame(int path, std::span<const std::byte> head, std::span<const std::byte> data);
    // Links are not trusted, which may become known only after construction.
    void set_aead(transport::auth::Aead& aead) { codec_.set_aead(aead); }
    // Destination for the data of a long frame that is arriving and will be passed to on_frame(); null: any
    // buffer.
    std::byte* receive_buffer_for(std::span<const std::byte> head, size_t bytes);
    void on_frame_sent(FrameTicket* ticket); // the network has finished with the data of a frame
    void path_up(int path) { recovery_.path_up(path); }
    void path_down(int path) { recovery_.path_down(path); }
    // The paths of all flows may have changed; frames on paths no longer in use are retransmitted.
    void reroute() { recovery_.reroute(); }

    // Does what is due. Returns the number of events.
    int advance();
    [[nodiscard]] uint64_t next_deadline_ns() const; // when advance() may have work; ~0: never
    [[nodiscard]] bool idle() const;                 // all acknowledged, and no acknowledgement due
    // This rank is about to exit, or not after all. During shutdown idle() also requires that gateways have
    // received the last acknowledgements, because nothing can be retransmitted afterwards. Peers that have
    // exited are waited for only until the timeout.
    void begin_shutdown() { recovery_.begin_shutdown(); }
    void cancel_shutdown() { recovery_.cancel_shutdown(); }
    // Sends due acknowledgements now. For long messages in progress only those already due, since more data
    // follows soon.
    void flush_before_sleep();
    // Chunks of long messages were sent or received within bulk_idle_ns.
    [[nodiscard]] bool in_bulk() const {
        return advanced_ns_ < std::max(sender_.last_chunk_ns(), receiver_.last_chunk_ns()) + bulk_idle_ns;
    }
    [[nodiscard]] const EndpointStats& counters() const { return counters_; }
    [[nodiscard]] uint64_t retained_bytes() const;
    [[nodiscard]] const PathSet& paths() const { return paths_; }
    void probe_all_paths() { paths_.probe_all(); }

  private:
    static constexpr uint64_t bulk_idle_ns = 1'000'000;
    void on_sealed_frame(int path, const FrameView& view, std::span<const std::byte> head,
                         std::span<const std::byte> data);
    void dispatch(int path, const FrameView& view);
    void on_gateway_frame(int path, const FrameView& view);
    [[nodiscard]] bool has_pending() const; // waits for a reply without which nothing progresses

    EndpointLimits limits_;
    EndpointIo& io_;
    EndpointStats counters_;
    FrameCodec codec_;
    PathSet paths_;
    FlowTable flows_;
    FrameTransmitter transmitter_;
    FlowSender sender_;
    FlowReceiver receiver_;
    FlowRecovery recovery_;
    uint64_t checked_ns_ = 0;             // last check of paths and flows
    uint64_t advanced_ns_ = bulk_idle_ns; // last advance()
};

} // namespace zipmpi::bridge
