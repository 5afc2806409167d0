// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Frames between ranks and gateways: by the TCP stream of the peer, else as records. They are self-describing
// and unordered.
#pragma once

#include "transport/ofi/record_sender.hpp"
#include "transport/ofi/records.hpp"
#include "transport/tcp/stream_manager.hpp"

namespace zipmpi::transport::ofi {

// Which of the frames that may be batched are batched.
enum class FrameBatching { after_first, all };

class FrameChannel final : public tcp::StreamPeers {
  public:
    FrameChannel(const NetworkConfig& settings, const FrameConfig& frames, PeerTable& peers,
                 RecordSender& records, PollCounters& counters)
        : batching_(settings.batch_all_frames ? FrameBatching::all : FrameBatching::after_first)
        , listener_(frames.listener)
        , peers_(peers)
        , records_(records)
        , counters_(counters)
        , streams_(settings.world_rank, settings.keys, frames, *this, counters) {}

    [[nodiscard]] tcp::StreamManager& streams() { return streams_; }
    [[nodiscard]] const tcp::StreamManager& streams() const { return streams_; }
    PostStatus send(PeerState& to, std::span<const std::byte> head, std::span<const std::byte> data,
                    FrameTicket* ticket, Batching batching);
    PostStatus send_spliced(PeerState& to, std::span<const std::byte> head, std::span<const std::byte> data,
                            FrameTicket* ticket, tcp::FrameBuffer& buffer);
    // Records of frames and offers. Returns false if they are invalid.
    bool record_arrived(const PeerState& from, const Record& record);
    void peer_connected(const PeerState& peer);

    [[nodiscard]] int id_of(Peer peer) const override { return peers_[peer].world_rank; }
    [[nodiscard]] int find(int id) const override;
    [[nodiscard]] bool has_failed(Peer peer) const override { return peers_[peer].failed; }
    [[nodiscard]] bool can_receive(Peer peer) const override {
        return peers_[peer].readiness() == PostStatus::done;
    }
    void send_offer(Peer peer, std::span<const std::byte> offer) override;

  private:
    FrameBatching batching_;
    FrameListener* listener_; // null: there are no frames
    PeerTable& peers_;
    RecordSender& records_;
    PollCounters& counters_;
    tcp::StreamManager streams_;
};

} // namespace zipmpi::transport::ofi
