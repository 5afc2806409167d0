// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The network engine `tcp`: messages between ranks of a job, and frames between ranks and gateways, over
// authenticated TCP connections. Nothing that a connection sends is interpreted before its sender has proven
// that it has the key of the job.
#pragma once

#include "transport/frame_network.hpp"
#include "transport/tcp_engine/relay_channel.hpp"

namespace zipmpi::transport::tcp_engine {

class TcpNetwork final : public FrameNetwork {
  public:
    TcpNetwork(const NetworkConfig& settings, const FrameConfig& frames, const stream::Sealing& sealing);
    ~TcpNetwork() override;
    TcpNetwork(const TcpNetwork&) = delete;
    TcpNetwork& operator=(const TcpNetwork&) = delete;
    // Listens on the TCP interfaces of the list.
    bool start(const char* devices, std::string& why);

    [[nodiscard]] const std::string& address() const override { return address_; }
    int connect_to(int world_rank) override;
    [[nodiscard]] int rank_of(Peer peer) const override { return peers_.id_of(peers_.number_of(peer)); }
    void fail_peer(int world_rank) override;
    PostStatus send(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                    const BufferRef& data) override {
        return post(peer, envelope, payload, data, stream::Timing::now);
    }
    PostStatus send_batched(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                            const BufferRef& data) override {
        return post(peer, envelope, payload, data, stream::Timing::may_wait);
    }
    PostStatus send_rendezvous(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                               const BufferRef& data) override;
    void fetch(IncomingBulk& bytes, const BufferRef& to) override { messages_.fetch(bytes, to); }
    void drop(IncomingBulk& bytes) override { messages_.drop(bytes); }
    int progress() override;
    [[nodiscard]] int descriptor() const override {
        return relays_.streams().is_open() ? relays_.streams().descriptor() : messages_.descriptor();
    }
    bool arm() override;
    [[nodiscard]] bool idle() const override { return messages_.idle() && relays_.streams().idle(); }
    [[nodiscard]] bool has_pending_handshakes() const override;
    [[nodiscard]] uint64_t rejected_messages() const override {
        return counters_.rejected_messages + messages_.rejected();
    }

    PostStatus send_frame(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data,
                          FrameTicket* ticket, Batching batching) override {
        return relays_.send(peer, head, data, ticket, batching);
    }
    void flush_batches() override;
    [[nodiscard]] bool has_batches() const override {
        return relays_.streams().has_batches() || messages_.has_deferred();
    }
    void announce_end() override { messages_.sender().announce_end(); }
    void release_frame(void* descriptor) override;
    void reset_peer(Peer peer) override;
    void revoke_buffer(std::span<const std::byte> memory) override {
        relays_.streams().revoke_buffer(memory);
    }
    [[nodiscard]] bool path_ready(Peer gateway) const override {
        return relays_.can_receive(gateway) && relays_.streams().is_ready(gateway);
    }
    [[nodiscard]] tcp::FrameBuffer* spliced(void* descriptor) const override {
        return tcp::spliced_buffer(tcp::frame_buffer_of(descriptor));
    }
    PostStatus send_spliced(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data,
                            FrameTicket* ticket, tcp::FrameBuffer& buffer) override {
        return relays_.send_spliced(peer, head, data, ticket, buffer);
    }

  private:
    // Whether messages can be sent to a peer now.
    [[nodiscard]] PostStatus readiness(int peer) const;
    PostStatus post(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                    const BufferRef& data, stream::Timing timing);

    PollCounters counters_;
    RelayChannel relays_;
    JobPeers peers_;
    stream::MessageStreams messages_;
    std::string address_;
};

} // namespace zipmpi::transport::tcp_engine
