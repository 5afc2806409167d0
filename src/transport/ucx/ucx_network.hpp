// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The network engine of the module zipmpi_ucx.so: wires the components.
#pragma once

#include "transport/frame_network.hpp"
#include "transport/ucx/connector.hpp"
#include "transport/ucx/frame_channel.hpp"
#include "transport/ucx/message_channel.hpp"
#include "transport/ucx/offer_channel.hpp"

#include <array>

namespace zipmpi::transport::ucx {

// Passes changes of a connection on to the channels and to the user of frames.
class ConnectionEvents final : public ConnectionListener {
  public:
    ConnectionEvents(tcp::StreamManager& streams, FrameChannel& frames, FrameListener* listener,
                     PollCounters& counters)
        : streams_(streams)
        , frames_(frames)
        , listener_(listener)
        , counters_(counters) {}

    void peer_connected(PeerState& peer) override;
    void peer_reset(PeerState& peer) override;

  private:
    tcp::StreamManager& streams_;
    FrameChannel& frames_;
    FrameListener* listener_;
    PollCounters& counters_;
};

class UcxNetwork final : public FrameNetwork {
  public:
    UcxNetwork(const NetworkConfig& settings, const FrameConfig& frames);
    ~UcxNetwork() override;
    UcxNetwork(const UcxNetwork&) = delete;
    UcxNetwork& operator=(const UcxNetwork&) = delete;
    bool start(const char* devices, std::string& why);

    [[nodiscard]] const std::string& address() const override { return worker_.address(); }
    int connect_to(int world_rank) override { return connector_.connect_to(world_rank); }
    [[nodiscard]] int rank_of(Peer peer) const override { return peers_[peer].world_rank; }
    void fail_peer(int world_rank) override { connector_.fail_peer(world_rank); }
    PostStatus send(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                    const BufferRef& data) override {
        return messages_.send(peer, envelope, payload, data);
    }
    PostStatus send_batched(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                            const BufferRef& data) override {
        return messages_.send_batched(peer, envelope, payload, data);
    }
    PostStatus send_rendezvous(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                               const BufferRef& data) override {
        return messages_.send_rendezvous(peer, envelope, payload, data);
    }
    void fetch(IncomingBulk& bytes, const BufferRef& to) override { messages_.fetch(bytes, to); }
    void drop(IncomingBulk& bytes) override { messages_.drop(bytes); }
    [[nodiscard]] uint64_t rendezvous_threshold(Peer peer) const override {
        const EpInfo& info = peers_[peer].ep_info;
        return info.has_rdma_read ? info.rendezvous_threshold : 0;
    }
    int progress() override;
    [[nodiscard]] int descriptor() const override {
        return streams_.is_open() ? streams_.descriptor() : worker_.descriptor();
    }
    bool arm() override;
    [[nodiscard]] bool idle() const override { return requests_.idle() && streams_.idle(); }
    [[nodiscard]] bool has_pending_handshakes() const override { return connector_.has_pending_handshakes(); }
    [[nodiscard]] uint64_t rejected_messages() const override { return counters_.rejected_messages; }

    PostStatus send_frame(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data,
                          FrameTicket* ticket, Batching batching) override {
        return frames_.send(peer, head, data, ticket, batching);
    }
    void flush_batches() override { frames_.flush_batches(); }
    [[nodiscard]] bool has_batches() const override { return frames_.has_batches(); }
    void release_frame(void* descriptor) override { frames_.release(descriptor); }
    void reset_peer(Peer peer) override { connector_.reset_peer(peer); }
    void revoke_buffer(std::span<const std::byte> memory) override { streams_.revoke_buffer(memory); }
    [[nodiscard]] bool path_ready(Peer gateway) const override {
        return peers_[gateway].tokens.sending != 0 && streams_.is_ready(gateway);
    }
    [[nodiscard]] tcp::FrameBuffer* spliced(void* descriptor) const override {
        return tcp::spliced_buffer(tcp::frame_buffer_of(descriptor));
    }
    PostStatus send_spliced(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data,
                            FrameTicket* ticket, tcp::FrameBuffer& buffer) override {
        return frames_.send_spliced(peer, head, data, ticket, buffer);
    }

  private:
    PeerLifetime lifetime_;
    PollCounters counters_;
    UcxWorker worker_;
    PeerTable peers_;
    BufferStaging staging_;
    SendRequests requests_;
    MessageChannel messages_;
    OfferChannel offers_;
    tcp::StreamManager streams_;
    FrameChannel frames_;
    ConnectionEvents connection_events_;
    Connector connector_;
};

} // namespace zipmpi::transport::ucx
