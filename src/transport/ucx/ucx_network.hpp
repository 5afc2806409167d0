// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Implementation of the module zipmpi_ucx.so: one UCX context and worker, and the connected peers.
#pragma once

#include "transport/auth/handshake.hpp"
#include "transport/frame_network.hpp"
#include "transport/tcp/frame_stream.hpp"
#include "transport/ucx/ep_info.hpp"
#include "wire/frame_layout.hpp"
#include "wire/stream_layout.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <ucp/api/ucp.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace zipmpi::transport::ucx {

// Bits of a token that hold the peer index; the others are random.
inline constexpr unsigned token_index_bits = 24;
inline constexpr size_t batch_bytes = 16U << 10;

struct UcxIncomingBulk : IncomingBulk {
    void* descriptor; // of UCX
    uint64_t bytes;
    bool scatters; // the device may write it to many segments
};

class UcxNetwork final : public FrameNetwork {
  public:
    UcxNetwork(const NetworkConfig& settings, const FrameConfig& frames);
    ~UcxNetwork() override;
    UcxNetwork(const UcxNetwork&) = delete;
    UcxNetwork& operator=(const UcxNetwork&) = delete;
    bool start(const char* devices, std::string& why);

    [[nodiscard]] const std::string& address() const override { return address_; }
    int connect_to(int world_rank) override;
    [[nodiscard]] int rank_of(Peer peer) const override { return peers_[peer].world_rank; }
    void fail_peer(int world_rank) override;
    PostStatus send(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                    const BufferRef& data) override;
    PostStatus send_batched(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                            const BufferRef& data) override;
    PostStatus send_rendezvous(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                               const BufferRef& data) override;
    void fetch(IncomingBulk& bytes, const BufferRef& to) override;
    void drop(IncomingBulk& bytes) override;
    [[nodiscard]] uint64_t rendezvous_threshold(Peer peer) const override {
        return peers_[peer].ep_info.has_rdma_read ? peers_[peer].ep_info.rendezvous_threshold : 0;
    }
    int progress() override;
    [[nodiscard]] int descriptor() const override { return epoll_ ? epoll_.get() : descriptor_; }
    bool arm() override;
    [[nodiscard]] bool idle() const override;
    [[nodiscard]] bool has_pending_handshakes() const override {
        return std::ranges::any_of(
            peers_, [](const PeerState& k) { return k.endpoint != nullptr && k.token == 0 && !k.failed; });
    }
    [[nodiscard]] uint64_t rejected_messages() const override { return rejected_messages_; }
    PostStatus send_frame(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data,
                          void* ticket, bool may_wait) override;
    [[nodiscard]] tcp::FrameBuffer* spliced(void* descriptor) const override;
    PostStatus send_spliced(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data,
                            void* ticket, tcp::FrameBuffer& buffer) override;
    void flush_batches() override;
    [[nodiscard]] bool has_batches() const override {
        return !waiting_frames_.empty() || !waiting_streams_.empty();
    }
    void release_frame(void* descriptor) override;
    void revoke_buffer(std::span<const std::byte> memory) override;
    [[nodiscard]] bool path_ready(Peer gateway) const override;
    void reset_peer(Peer peer) override;

  private:
    // A message that overtook one sent earlier.
    struct ReorderedMessage {
        uint32_t number;
        std::string header;
        std::string data;
        UcxIncomingBulk* bytes; // of a rendezvous message
    };
    struct SendRequest;
    // Callback context of a stream.
    struct StreamContext {
        UcxNetwork* network;
        Peer peer;
    };
    struct PeerState {
        int world_rank = -1;
        ucp_ep_h endpoint = nullptr;
        uint64_t token = 0;        // on messages to it; 0: not received yet
        uint64_t issued_token = 0; // on messages from it
        uint32_t sent = 0;         // messages so far
        uint32_t delivered = 0;
        uint32_t poll_id = 0;               // poll in which the last message was sent
        uint32_t sent_since_poll = 0;       // messages sent in that poll
        SendRequest* batch = nullptr;       // open batch of messages
        SendRequest* frame_batch = nullptr; // open batch of frames
        bool failed = false;
        bool abandoned = false;                         // permanently
        EpInfo ep_info{};                               // valid once token is set
        size_t address_hash = 0;                        // of its UCX address
        std::string address;                            // kept only for peers that may be restarted
        std::array<uint8_t, wire::nonce_bytes> nonce{}; // of our hello
        uint64_t created_ns = 0;                        // creation time of the endpoint
        bool ep_failed = false;                         // reported by UCX
        uint64_t last_hello = 0;                        // number of its last hello
        std::vector<ReorderedMessage> reordered;
        uint64_t stream_token = 0; // of an offer; 0: none, or used
        bool no_stream = false;    // the gateway offers none
        StreamContext stream_context{};
        std::unique_ptr<tcp::FrameStream> stream; // for frames; null: they use UCX
    };
    // An endpoint no longer in use.
    struct RetiredEndpoint {
        ucp_ep_h endpoint;
        uint64_t close_at_ns;
    };
    // An unauthenticated connection.
    struct PendingStream {
        os::Fd fd;
        Peer peer = 0;             // of a connection made by this side
        bool is_initiator = false; // this side connected
        bool request_sent = false;
        std::string in;
        std::array<uint8_t, wire::nonce_bytes> nonce{};
        uint64_t deadline_ns = 0;
    };
    // Stands for noncontiguous memory during a UCX operation: an iovec or packed bytes.
    struct IovStaging {
        std::vector<ucp_dt_iov_t> iov;
        std::vector<std::byte> packed;
    };
    // A message or handshake that UCX has not completed.
    struct SendRequest {
        UcxNetwork* network;
        std::byte header[std::max(wire::net_header_max,
                                  sizeof(uint64_t) + wire::frame_head_max + wire::frame_small)];
        BufferRef data;
        IovStaging staging;
        std::string handshake;
        size_t used = 0;                // of a batch: bytes
        std::vector<void*> batched_ops; // operations whose messages are in the batch
        void* ticket;                   // of a frame
        SendRequest* next_free;
    };
    struct RecvRequest {
        UcxNetwork* network;
        BufferRef to;
        IovStaging staging;
        UcxIncomingBulk* bytes;
    };

    // connect.cpp
    PeerState& peer_for(int world_rank);
    bool connect(PeerState& peer, std::string_view address);
    void send_handshake(PeerState& peer, uint16_t kind, const uint8_t (&nonce)[wire::nonce_bytes]);
    void on_hello(std::span<const std::byte> bytes);
    void process_hellos();
    void on_hello_reply(std::span<const std::byte> bytes);
    void mark_failed(PeerState& peer, const char* why);
    void set_token(PeerState& peer, uint64_t token);
    void disconnect(PeerState& peer);
    static void close_now(ucp_ep_h endpoint);
    void close_retired();
    void reset_state(PeerState& peer);
    void notify_connected(PeerState& peer);
    // messages.cpp
    PostStatus post(Peer peer, unsigned kind, const wire::Envelope& envelope, const std::byte* payload,
                    const BufferRef& data, uint32_t flags);
    // batching.cpp
    bool may_batch(PeerState& to, const BufferRef& data);
    SendRequest& new_batch();
    void send_batch(PeerState& to);
    void flush_message_batches();
    static ucs_status_t on_batch(void* self, const void*, size_t, void* data, size_t length,
                                 const ucp_am_recv_param_t* param);
    // messages.cpp
    SendRequest& acquire_request();
    void release_request(SendRequest& sending);
    ucs_status_t receive_message(std::span<const std::byte> header, std::span<const std::byte> data,
                                 UcxIncomingBulk* bytes);
    void deliver(Peer from, std::span<const std::byte> header, std::span<const std::byte> data,
                 UcxIncomingBulk* bytes);
    void deliver_reordered(Peer from);

    // Parameters of a UCX operation whose memory stays in the SendRequest until on_sent().
    static ucp_request_param_t request_params(SendRequest& sending, uint32_t flags);
    // The network of a callback. Null, and counted as rejected, if the data is still at the sender: peers of
    // this job never send these messages by rendezvous.
    static UcxNetwork* callback_owner(void* self, const ucp_am_recv_param_t* param);
    static ucs_status_t on_handshake(void* self, const void*, size_t, void* data, size_t length,
                                     const ucp_am_recv_param_t* param);
    static ucs_status_t on_control(void* self, const void*, size_t, void* data, size_t length,
                                   const ucp_am_recv_param_t* param);
    static ucs_status_t on_message(void* self, const void* header, size_t header_length, void* data,
                                   size_t length, const ucp_am_recv_param_t* param);
    // Description of memory for UCX: pointer, count, and the datatype in param.
    std::pair<void*, size_t> stage_buffer(const BufferRef& memory, IovStaging& staging, bool use_iov,
                                          ucp_request_param_t& param);
    bool fill_iov(const BufferRef& memory, IovStaging& staging) const;
    std::vector<std::byte> acquire_pack_buffer(uint64_t bytes);
    void release_pack_buffer(std::vector<std::byte>&& buffer);
    static ucs_status_t on_frame(void* self, const void* header, size_t header_length, void* data,
                                 size_t length, const ucp_am_recv_param_t* param);
    ucs_status_t deliver_frame(std::span<const std::byte> head, std::span<const std::byte> data,
                               void* descriptor);
    ucs_status_t deliver_frames(std::span<const std::byte> bytes);
    bool batch_frame(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data);
    void send_frame_batch(PeerState& to);
    bool check_token(std::span<const std::byte>& bytes, Peer& from);
    bool should_batch_frame(PeerState& to, size_t bytes);
    // stream_manager.cpp
    bool open_events(const std::string& device);
    bool watch(int fd, uint64_t key, uint32_t events, bool again = false);
    void offer_stream(PeerState& peer);
    static ucs_status_t on_offer(void* self, const void*, size_t, void* data, size_t length,
                                 const ucp_am_recv_param_t* param);
    void accept_offer(Peer from, const wire::StreamOffer& offer);
    void add_pending_stream(os::Fd fd, Peer peer, bool is_initiator);
    bool serve_pending_stream(uint64_t number, PendingStream& pending);
    [[nodiscard]] std::string stream_handshake(uint16_t kind, const PeerState& peer,
                                               std::span<const uint8_t, wire::nonce_bytes> nonce) const;
    bool on_stream_handshake(PendingStream& pending);
    void begin_stream(PeerState& peer, os::Fd fd);
    void close_stream(PeerState& peer);
    void on_stream_closed(Peer peer);
    PostStatus send_by_stream(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data,
                              void* ticket, bool may_wait);
    void after_sending(Peer peer, bool went);
    void flush_streams();
    void read_stream(Peer peer);
    void write_streams();
    void watch_writable_streams();
    bool poll_events();
    bool poll_streams();
    [[nodiscard]] tcp::FrameStream::StreamCallbacks stream_callbacks(PeerState& peer);
    static void on_sent(void* request, ucs_status_t status, void* user_data);
    static void on_fetched(void* request, ucs_status_t status, size_t length, void* user_data);
    static void on_ep_error(void* self, ucp_ep_h endpoint, ucs_status_t status);
    void finish_fetch(RecvRequest& receiving, ucs_status_t status);
    bool listen();

    int world_rank_;
    int detect_from_;
    bool batch_all_frames_;
    std::array<uint8_t, wire::job_key_bytes> key_{};
    NetworkCallbacks callbacks_;
    AddressResolver resolver_;
    ucp_context_h context_ = nullptr;
    ucp_worker_h worker_ = nullptr;
    int descriptor_ = -1;
    std::string address_;
    std::deque<PeerState> peers_; // deque: a callback may add a peer
    std::unordered_map<int, Peer> by_rank_;
    std::deque<SendRequest> requests_;
    SendRequest* free_requests_ = nullptr;
    std::vector<std::vector<std::byte>> pack_buffers_; // reused: fresh memory is slow
    bool rdma_ = false;                                // a device may support RDMA
    uint64_t in_flight_ = 0;                           // sends
    uint32_t poll_id_ = 1;                             // number of the current poll
    size_t batches_ = 0;                               // open, or not completed by UCX
    std::vector<Peer> waiting_batches_, waiting_frames_;
    std::vector<void*> spare_batched_ops_; // memory for the next batch
    // Frames over TCP: polled descriptors besides UCX's, and the listener.
    FrameConfig frame_config_;
    os::Fd epoll_, listener_;
    wire::StreamOffer offer_{};
    tcp::FrameBufferPool frame_buffers_;
    std::map<uint64_t, PendingStream> pending_streams_; // by age
    uint64_t next_pending_stream_ = 0;
    size_t streams_ = 0;
    std::vector<Peer> waiting_streams_; // with batched frames
    std::vector<Peer> writing_;         // with frames not fully sent
    std::vector<Peer> broken_streams_;
    int active_stream_ = -1;                             // peer whose stream last received data; -1: UCX
    bool needs_arm_ = true;                              // UCX was called since it was armed
    std::vector<std::vector<std::byte>> pending_hellos_; // received in this poll
    std::vector<RetiredEndpoint> retired_endpoints_;
    uint64_t rejected_messages_ = 0;
    int events_ = 0; // since progress() began
};

} // namespace zipmpi::transport::ucx
