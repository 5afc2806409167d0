// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The network engine of the module zipmpi_ofi.so: wires the components.
#pragma once

#include "transport/ofi/bulk_channel.hpp"
#include "transport/ofi/connector.hpp"
#include "transport/ofi/frame_channel.hpp"
#include "transport/ofi/receive_buffers.hpp"

namespace zipmpi::transport::ofi {

// Checks messages, and passes their records and changes of connections on to the channels.
class Dispatcher final : public MessageListener, public ConnectionListener {
  public:
    Dispatcher(PeerTable& peers, Connector& connector, SendRequests& requests, BulkChannel& bulk,
               FrameChannel& frames, NetworkListener& listener, PollCounters& counters)
        : peers_(peers)
        , connector_(connector)
        , requests_(requests)
        , bulk_(bulk)
        , frames_(frames)
        , listener_(listener)
        , counters_(counters) {}

    void message_arrived(std::span<const std::byte> bytes) override;
    void peer_connected(PeerState& peer) override { frames_.peer_connected(peer); }
    void peer_reset(PeerState& peer) override;

  private:
    void records_arrived(PeerState& from, std::span<const std::byte> bytes);
    bool record_arrived(PeerState& from, const Record& record);

    PeerTable& peers_;
    Connector& connector_;
    SendRequests& requests_;
    BulkChannel& bulk_;
    FrameChannel& frames_;
    NetworkListener& listener_;
    PollCounters& counters_;
};

class OfiNetwork final : public FrameNetwork {
  public:
    OfiNetwork(const NetworkConfig& settings, const FrameConfig& frames);
    ~OfiNetwork() override;
    OfiNetwork(const OfiNetwork&) = delete;
    OfiNetwork& operator=(const OfiNetwork&) = delete;
    bool start(const char* devices, const char* provider, std::string& why);

    [[nodiscard]] const std::string& address() const override { return endpoint_.address(); }
    int connect_to(int world_rank) override { return connector_.connect_to(world_rank); }
    [[nodiscard]] int rank_of(Peer peer) const override { return peers_[peer].world_rank; }
    void fail_peer(int world_rank) override { connector_.fail_peer(world_rank); }
    PostStatus send(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                    const BufferRef& data) override;
    PostStatus send_batched(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                            const BufferRef& data) override;
    PostStatus send_rendezvous(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                               const BufferRef& data) override;
    void fetch(IncomingBulk& bytes, const BufferRef& to) override { bulk_.fetch(bytes, to); }
    void drop(IncomingBulk& bytes) override { bulk_.drop(bytes); }
    [[nodiscard]] uint64_t max_eager(Peer) const override { return wire::frame_chunk; }
    int progress() override;
    [[nodiscard]] int descriptor() const override {
        return frames_.streams().is_open() ? frames_.streams().descriptor() : endpoint_.descriptor();
    }
    bool arm() override;
    [[nodiscard]] bool idle() const override {
        return requests_.idle() && bulk_.idle() && frames_.streams().idle();
    }
    void announce_end() override;
    [[nodiscard]] bool has_pending_handshakes() const override { return connector_.has_pending_handshakes(); }
    [[nodiscard]] uint64_t rejected_messages() const override { return counters_.rejected_messages; }

    PostStatus send_frame(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data,
                          FrameTicket* ticket, Batching batching) override {
        return frames_.send(peers_[peer], head, data, ticket, batching);
    }
    void flush_batches() override;
    [[nodiscard]] bool has_batches() const override {
        return records_.has_batches() || frames_.streams().has_batches();
    }
    void release_frame(void* descriptor) override;
    void reset_peer(Peer peer) override { connector_.reset_peer(peers_[peer]); }
    void revoke_buffer(std::span<const std::byte> memory) override {
        frames_.streams().revoke_buffer(memory);
    }
    [[nodiscard]] bool path_ready(Peer gateway) const override {
        return frames_.can_receive(gateway) && frames_.streams().is_ready(gateway);
    }
    [[nodiscard]] tcp::FrameBuffer* spliced(void* descriptor) const override {
        return tcp::spliced_buffer(tcp::frame_buffer_of(descriptor));
    }
    PostStatus send_spliced(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data,
                            FrameTicket* ticket, tcp::FrameBuffer& buffer) override {
        return frames_.send_spliced(peers_[peer], head, data, ticket, buffer);
    }

  private:
    PollCounters counters_;
    Endpoint endpoint_;
    PeerTable peers_;
    SendRequests requests_;
    RecordSender records_;
    BulkChannel bulk_;
    FrameChannel frames_;
    Connector connector_;
    Dispatcher dispatcher_;
    ReceiveBuffers buffers_;
};

} // namespace zipmpi::transport::ofi
