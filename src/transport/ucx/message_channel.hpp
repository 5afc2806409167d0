// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Messages between ranks: sends and receives them in order, and moves the data of rendezvous messages.
#pragma once

#include "transport/ucx/batcher.hpp"

namespace zipmpi::transport::ucx {

class MessageChannel {
  public:
    MessageChannel(UcxWorker& worker, PeerTable& peers, SendRequests& requests, BufferStaging& staging,
                   NetworkListener& listener, PollCounters& counters)
        : worker_(worker)
        , peers_(peers)
        , requests_(requests)
        , staging_(staging)
        , listener_(listener)
        , counters_(counters)
        , batcher_(peers, requests, listener, counters) {}

    bool listen(); // registers the receivers
    PostStatus send(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                    const BufferRef& data) {
        return post(peers_[peer], {wire::net_message, UCP_AM_SEND_FLAG_EAGER}, envelope, payload, data);
    }
    PostStatus send_batched(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                            const BufferRef& data) {
        return batcher_.batch(peers_[peer], envelope, payload, data) ? PostStatus::in_flight
                                                                     : send(peer, envelope, payload, data);
    }
    PostStatus send_rendezvous(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                               const BufferRef& data) {
        return post(peers_[peer], {wire::net_rendezvous, UCP_AM_SEND_FLAG_RNDV}, envelope, payload, data);
    }
    void flush_batches() { batcher_.flush(); }
    void fetch(IncomingBulk& bytes, const BufferRef& to);
    void drop(IncomingBulk& bytes);

  private:
    struct MessageKind {
        unsigned id;
        uint32_t flags;
    };
    struct FetchRequest {
        MessageChannel* channel;
        BufferRef to;
        IovStaging staging;
        UcxIncomingBulk* bytes;
    };

    PostStatus post(PeerState& to, MessageKind kind, const wire::Envelope& envelope, const std::byte* payload,
                    const BufferRef& data);
    ucs_status_t receive(std::span<const std::byte> header, std::span<const std::byte> data,
                         UcxIncomingBulk* bytes);
    void deliver(PeerState& from, std::span<const std::byte> header, std::span<const std::byte> data,
                 UcxIncomingBulk* bytes);
    void finish_fetch(FetchRequest& request, ucs_status_t status);

    static ucs_status_t on_message(void* self, const void* header, size_t header_length, void* data,
                                   size_t length, const ucp_am_recv_param_t* param);
    static ucs_status_t on_control(void* self, const void*, size_t, void* data, size_t length,
                                   const ucp_am_recv_param_t* param);
    static ucs_status_t on_batch(void* self, const void*, size_t, void* data, size_t length,
                                 const ucp_am_recv_param_t* param);
    static void on_fetched(void* request, ucs_status_t status, size_t length, void* user_data);

    UcxWorker& worker_;
    PeerTable& peers_;
    SendRequests& requests_;
    BufferStaging& staging_;
    NetworkListener& listener_;
    PollCounters& counters_;
    Batcher batcher_;
};

} // namespace zipmpi::transport::ucx
