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

#include "bridge/frame.hpp"
#include "transport/auth/aead.hpp"
#include "transport/network.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

namespace zipmpi::bridge {

using transport::BufferRef;
using transport::OpStatus;
using transport::Peer;
using transport::PostStatus;

struct EndpointLimits {
    uint64_t eager_bytes = 2 * wire::frame_chunk;  // data of a long message sent before it is granted
    uint64_t retained = uint64_t{8} << 20;         // bytes of copies retained per flow
    uint64_t path_bytes = uint64_t{2} << 20;       // bytes at a gateway that it has not forwarded
    uint64_t ack_bytes = 4 * wire::frame_chunk;    // an ack is due after this many bytes,
    uint32_t ack_messages = wire::flow_window / 4; // messages,
    uint64_t ack_ns = 1'000'000;                   // or nanoseconds
    uint64_t heartbeat_ns = 200'000'000;           // a path idle for this long is probed
    uint64_t heartbeat_timeout_ns = 1'000'000'000; // a path without reply for this long is down
    // Without acknowledgement although the path is up: retransmit.
    uint64_t retransmit_ns = uint64_t{1'000'000'000};
    uint64_t partition_timeout_ns = uint64_t{30'000'000'000}; // without any path: the peer has failed
};

// Services used by an endpoint. send: head is copied, data must stay valid until on_frame_sent(ticket) if in
// flight.
struct EndpointIo {
    void* subject = nullptr;
    PostStatus (*send)(void* subject, int path, std::span<const std::byte> head,
                       std::span<const std::byte> data, void* ticket) = nullptr;
    void (*close_path)(void* subject, int path) = nullptr; // no reply: drops everything on the path
    // Memory returned by receive_buffer_for.
    void (*revoke_buffer)(void* subject, std::span<const std::byte> memory) = nullptr;
    std::vector<int> (*paths_to)(void* subject, int world_rank) = nullptr;
    uint64_t (*now_ns)() = nullptr;
    transport::auth::Aead* aead = nullptr; // null: links are trusted
};

struct EndpointStats {
    uint64_t messages_out = 0, messages_in = 0, frames_out = 0, frames_in = 0, control_out = 0;
    uint64_t duplicates = 0, retransmitted = 0, rejected = 0, paths_lost = 0;
};

struct UnackedFrame;
struct ChunkedSend;
struct ChunkedReceive;
struct Flow;

class Endpoint {
  public:
    Endpoint(int own_id, uint64_t job, int paths, const EndpointLimits& limits,
             const transport::NetworkCallbacks& sink, const EndpointIo& io);
    ~Endpoint();
    Endpoint(const Endpoint&) = delete;
    Endpoint& operator=(const Endpoint&) = delete;

    // The flow to and from a rank, dense from 0.
    Peer flow(int world_rank);
    [[nodiscard]] int rank_of(Peer peer) const;
    void fail_peer(int world_rank); // operations in flight to and from it complete with failure
    PostStatus send(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                    const BufferRef& data);
    PostStatus send_chunked(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                            const BufferRef& data);
    void fetch(ChunkedReceive& message, const BufferRef& to);
    void drop(ChunkedReceive& message);
    [[nodiscard]] bool owns(const void* message) const { return receives_.contains(message); }

    void on_frame(int path, std::span<const std::byte> head, std::span<const std::byte> data);
    // Whether links are trusted may become known only after construction.
    void set_aead(transport::auth::Aead& sealer) { io_.aead = &sealer; }
    // Destination for the data of a long frame that is arriving and will be passed to on_frame(); null: any
    // buffer.
    std::byte* receive_buffer_for(std::span<const std::byte> head, size_t bytes);
    void on_frame_sent(void* ticket); // the network has finished with the data of a frame
    void path_up(int path);
    void path_down(int path);
    // The paths of all flows may have changed; frames on paths no longer in use are retransmitted.
    void reroute();

    // Does what is due. Returns the number of events.
    int advance();
    [[nodiscard]] uint64_t next_deadline_ns() const; // when advance() may have work; ~0: never
    [[nodiscard]] bool idle() const;                 // all acknowledged, and no acknowledgement due
    // This rank is about to exit, or not after all. During shutdown idle() also requires that gateways have
    // received the last acknowledgements, because nothing can be retransmitted afterwards. Peers that have
    // exited are waited for only until the timeout.
    void set_shutting_down(bool yes);
    // Sends due acknowledgements now. For long messages in progress only those already due, since more data
    // follows soon.
    void flush_before_sleep();
    // Chunks of long messages were sent or received within bulk_idle_ns.
    [[nodiscard]] bool in_bulk() const { return advanced_ns_ < bulk_ns_ + bulk_idle_ns; }
    [[nodiscard]] const EndpointStats& counters() const { return counters_; }
    [[nodiscard]] uint64_t retained_bytes() const;
    // Sends a heartbeat on all paths that are up.
    void probe_all_paths();
    [[nodiscard]] bool all_paths_replied() const {
        return std::ranges::none_of(paths_, [](const Path& l) { return l.up && l.probe_sent_ns != 0; });
    }
    [[nodiscard]] bool is_up(int path) const { return paths_[static_cast<size_t>(path)].up; }

  private:
    static constexpr uint64_t bulk_idle_ns = 1'000'000;
    struct Path {
        bool up = false;
        uint64_t unacked_bytes = 0;
        double ns_per_byte = 1;
        uint64_t sampled_ns = 0;
        uint64_t sampled_bytes = 0;
        uint64_t last_heard_ns = 0;
        uint64_t probe_sent_ns = 0; // 0: no heartbeat outstanding
        uint64_t trusted_from_ns = 0;
        bool was_down = false;
        uint64_t controls_sent = 0;       // acknowledgements and grants sent
        uint64_t controls_confirmed = 0;  // of these, confirmed by the gateway
        uint64_t control_sent_ns = 0;     // time of the first unconfirmed one
        std::deque<UnackedFrame*> frames; // in order of sending; null: no longer on this path
        uint64_t first_index = 0;         // index of frames.front()
    };

    // endpoint_send.cpp
    UnackedFrame& make_first_frame(Flow& flow, const wire::Envelope& envelope, const std::byte* payload,
                                   uint64_t length);
    void queue(Flow& flow, UnackedFrame& unacked, bool in_front);
    void enqueue(Flow& flow);
    int drain_send_queue();
    bool push(Flow& flow);
    bool push_chunk(Flow& flow);
    bool transmit(UnackedFrame& unacked, int path);
    PostStatus send_frame(Flow& flow, int path, wire::Frame frame, std::span<const std::byte> head,
                          std::span<const std::byte> data, void* ticket);
    [[nodiscard]] int choose_path(Flow& flow, uint64_t bytes);
    // endpoint_seal.cpp
    bool seal(Flow& flow, const wire::Frame& frame, std::span<const std::byte> ack, std::span<std::byte> head,
              std::span<const std::byte>& data, UnackedFrame* unacked, wire::AeadHeader& seal);
    bool unseal(const FrameView& view, std::span<const std::byte> head, std::span<const std::byte> data,
                std::vector<std::byte>& opened, FrameView& inside);
    [[nodiscard]] std::unique_ptr<std::byte[]> acquire_seal_buffer(uint64_t bytes);
    void release_sealed(UnackedFrame& unacked, size_t left);
    // endpoint_send.cpp
    void on_acknowledged(UnackedFrame& unacked);
    void delete_if_done(UnackedFrame& unacked);
    void on_ack(Flow& flow, uint64_t next, std::span<const uint64_t> seen);
    void acknowledge_first(Flow& flow, uint64_t sequence);
    void on_grant(Flow& flow, uint64_t sequence, const wire::Grant& grant);
    void finish_if_done(ChunkedSend& message);
    void probe_receiver(ChunkedSend& message);
    void fail(Flow& flow);
    // endpoint_receive.cpp
    void on_message(Flow& flow, const FrameView& view);
    void on_chunk(Flow& flow, const FrameView& view);
    void deliver(Flow& flow, const wire::Frame& frame, const wire::MessageHead& head,
                 std::span<const std::byte> payload, std::span<const std::byte> data);
    void deliver_reordered(Flow& flow);
    void store(ChunkedReceive& message, uint64_t offset, std::span<const std::byte> data);
    ChunkedReceive* posted_receive_for(const wire::Frame& frame, size_t bytes, std::byte*& at);
    void place_chunk(ChunkedReceive& message, uint64_t offset, std::span<const std::byte> data);
    void finish_if_complete(ChunkedReceive& message);
    void close_receive(ChunkedReceive& message);
    void schedule_ack(Flow& flow, uint64_t bytes);
    bool send_ack(Flow& flow);
    bool send_grant(Flow& flow, uint64_t sequence, const wire::Grant& grant);
    bool send_grant(ChunkedReceive& message);
    void send_receive_state(Flow& flow, uint64_t sequence);
    [[nodiscard]] bool has_seen(const Flow& flow, uint64_t sequence) const;
    // endpoint.cpp
    void on_frame(int path, const FrameView& view);
    void on_gateway_frame(int path, const FrameView& view);
    void on_credit(Path& path, uint64_t bytes);
    void track_on_path(int path, UnackedFrame& unacked);
    void untrack(UnackedFrame& unacked);
    void retransmit(UnackedFrame& unacked);
    void send_state(Flow& flow);
    int check_paths(uint64_t now);
    int retransmit_late(const Path& path, uint64_t now);
    int check_flows(uint64_t now);
    void send_due_acks(uint64_t acks_until,
                       uint64_t grants_until); // sends acks and grants due since before these times
    bool probe_path(int path, uint64_t now);
    [[nodiscard]] static bool has_unconfirmed(const Path& path) {
        return path.up && path.controls_confirmed != path.controls_sent;
    }
    [[nodiscard]] bool all_confirmed() const { return std::ranges::none_of(paths_, has_unconfirmed); }
    // Waits for confirmation of control frames, or for a heartbeat reply.
    [[nodiscard]] static bool awaits_gateway(const Path& path) {
        return path.up && (path.probe_sent_ns != 0 || has_unconfirmed(path));
    }
    [[nodiscard]] bool all_gateways_replied() const { return std::ranges::none_of(paths_, awaits_gateway); }
    void count_control(Path& path);
    int check_shutdown(uint64_t now);
    [[nodiscard]] bool has_pending() const; // waits for a reply without which nothing progresses
    bool close_if_timed_out(int path, uint64_t now);
    [[nodiscard]] bool has_path(const Flow& flow) const;
    [[nodiscard]] int control_path(const Flow& flow) const;

    int own_id_;
    uint64_t job_;
    EndpointLimits limits_;
    transport::NetworkCallbacks callbacks_;
    EndpointIo io_;
    std::vector<Path> paths_;
    std::deque<std::unique_ptr<Flow>> flows_;
    std::unordered_map<int, Peer> by_rank_;
    std::deque<Flow*> send_queue_; // flows with data to send
    std::unordered_map<const void*, std::unique_ptr<ChunkedReceive>> receives_;
    uint64_t acks_due_ns_ = ~uint64_t{0};                    // when the first is due
    uint64_t checked_ns_ = 0;                                // last check of paths and flows
    uint64_t advanced_ns_ = bulk_idle_ns;                    // last advance()
    uint64_t bulk_ns_ = 0;                                   // last chunk
    uint64_t shutdown_since_ns_ = 0;                         // 0: not shutting down
    uint64_t unacknowledged_ = 0;                            // frames
    uint64_t best_effort_ = 0;                               // unacknowledged frames that are best effort
    uint64_t open_chunked_sends_ = 0;                        // in all flows
    std::vector<std::byte> decrypted_;                       // buffer for a decrypted frame, reused
    std::vector<std::unique_ptr<std::byte[]>> seal_buffers_; // of one chunk each, reused
    EndpointStats counters_;
};

} // namespace zipmpi::bridge
