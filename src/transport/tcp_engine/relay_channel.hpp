// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Frames between ranks and gateways: by their dedicated stream (transport/tcp), else by the connection that
// carries messages. They are self-describing and unordered.
#pragma once

#include "transport/stream/message_streams.hpp"
#include "transport/tcp/stream_manager.hpp"
#include "transport/tcp_engine/job_peers.hpp"

namespace zipmpi::transport::tcp_engine {

class RelayChannel final : public stream::RelayListener, public tcp::StreamPeers, public ConnectionListener {
  public:
    RelayChannel(const NetworkConfig& settings, const FrameConfig& frames, JobPeers& peers,
                 stream::MessageStreams& messages, PollCounters& counters);
    // Returns false if descriptors are missing.
    bool open(const std::string& device);
    [[nodiscard]] tcp::StreamManager& streams() { return streams_; }
    [[nodiscard]] const tcp::StreamManager& streams() const { return streams_; }

    PostStatus send(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data,
                    FrameTicket* ticket, Batching batching);
    PostStatus send_spliced(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data,
                            FrameTicket* ticket, tcp::FrameBuffer& buffer);

    void relayed_arrived(int peer, std::span<const std::byte> frames) override;
    void offer_arrived(int peer, std::span<const std::byte> offer) override;
    void peer_connected(Peer peer, int id) override;
    void peer_reset(Peer peer) override;

    [[nodiscard]] int id_of(Peer peer) const override { return peers_.id_of(peers_.number_of(peer)); }
    [[nodiscard]] int find(int id) const override { return peers_.number_if_known(id); }
    [[nodiscard]] bool has_failed(Peer peer) const override { return link(peer).failed; }
    [[nodiscard]] bool can_receive(Peer peer) const override;
    void send_offer(Peer peer, std::span<const std::byte> offer) override;

  private:
    [[nodiscard]] const stream::PeerLink& link(Peer peer) const {
        return peers_.link(peers_.number_of(peer));
    }
    [[nodiscard]] bool should_batch(Peer peer, size_t bytes, Batching batching);

    NetworkListener& network_listener_;
    FrameListener* listener_; // null: there are no frames
    bool batches_all_;
    JobPeers& peers_;
    stream::MessageStreams& messages_;
    PollCounters& counters_;
    std::vector<SendBurst> bursts_; // by peer
    tcp::StreamManager streams_;
};

} // namespace zipmpi::transport::tcp_engine
