// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Frames between ranks and gateways: by the TCP stream of the peer, else by UCX. They are self-describing and
// unordered; over UCX the token of the receiver is prepended.
#pragma once

#include "transport/tcp/stream_manager.hpp"
#include "transport/ucx/peer_table.hpp"
#include "transport/ucx/send_requests.hpp"

namespace zipmpi::transport::ucx {

// Which of the frames that may be batched are batched.
enum class FrameBatching { after_first, all };

class FrameChannel {
  public:
    // listener: may be null, without frames.
    FrameChannel(UcxWorker& worker, PeerTable& peers, SendRequests& requests, tcp::StreamManager& streams,
                 FrameListener* listener, PollCounters& counters, FrameBatching batching)
        : worker_(worker)
        , peers_(peers)
        , requests_(requests)
        , streams_(streams)
        , listener_(listener)
        , counters_(counters)
        , batching_(batching) {}

    bool listen(); // registers the receivers
    PostStatus send(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data,
                    FrameTicket* ticket, Batching batching);
    PostStatus send_spliced(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data,
                            FrameTicket* ticket, tcp::FrameBuffer& buffer);
    void flush_batches();
    [[nodiscard]] bool has_batches() const { return !waiting_.empty() || streams_.has_batches(); }
    void release(void* descriptor);
    void reset(PeerState& peer); // drops its batch

  private:
    bool should_batch(PeerState& to, size_t bytes) const;
    bool batch(PeerState& to, std::span<const std::byte> head, std::span<const std::byte> data);
    void send_batch(PeerState& to);
    PostStatus send_by_stream(PeerState& to, std::span<const std::byte> head, std::span<const std::byte> data,
                              FrameTicket* ticket, Batching batching);
    PostStatus send_by_ucx(PeerState& to, std::span<const std::byte> head, std::span<const std::byte> data,
                           FrameTicket* ticket);
    PeerState* take_token(std::span<const std::byte>& bytes);
    ucs_status_t deliver(std::span<const std::byte> head, std::span<const std::byte> data, void* descriptor);
    ucs_status_t deliver_batch(std::span<const std::byte> bytes);

    static ucs_status_t on_frame(void* self, const void* header, size_t header_length, void* data,
                                 size_t length, const ucp_am_recv_param_t* param);
    static ucs_status_t on_offer(void* self, const void*, size_t, void* data, size_t length,
                                 const ucp_am_recv_param_t* param);

    UcxWorker& worker_;
    PeerTable& peers_;
    SendRequests& requests_;
    tcp::StreamManager& streams_;
    FrameListener* listener_;
    PollCounters& counters_;
    FrameBatching batching_;
    std::vector<Peer> waiting_; // with an open batch
};

} // namespace zipmpi::transport::ucx
