// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Sends records. Short ones of nonblocking sends in a row share a message, because each message over TCP is a
// system call: the first few of a burst are sent immediately, the others when the message is full, when
// another record goes to the same peer, or at the next progress call.
#pragma once

#include "transport/ofi/send_requests.hpp"
#include "wire/ofi_layout.hpp"

namespace zipmpi::transport::ofi {

struct OutgoingRecord {
    wire::OfiRecordKind kind;
    wire::Envelope envelope{};
    std::span<const std::byte> head; // payload, or first part of the data; short, and copied
    BufferRef data{};
    FrameTicket* ticket = nullptr; // with data that is no operation's
};

class RecordSender {
  public:
    RecordSender(Endpoint& endpoint, PeerTable& peers, SendRequests& requests, NetworkListener& listener,
                 PollCounters& counters)
        : endpoint_(endpoint)
        , peers_(peers)
        , requests_(requests)
        , listener_(listener)
        , counters_(counters) {}

    // The peer must be ready.
    PostStatus send(PeerState& to, const OutgoingRecord& record);
    // Copies a record that follows others of a burst to the open message of its peer. Returns false if it
    // must be sent by itself. Its operation is reported when the message is sent.
    bool batch(PeerState& to, const OutgoingRecord& record, uint32_t sent_at_once);
    void flush();
    [[nodiscard]] bool has_batches() const { return !waiting_.empty(); }

  private:
    SendRequest& open(PeerState& to);
    static void append_head(SendRequest& request, const OutgoingRecord& record);
    void append_data(SendRequest& request, const BufferRef& data);
    void pack(SendRequest& request, const BufferRef& data);
    void send_batch(PeerState& to);

    Endpoint& endpoint_;
    PeerTable& peers_;
    SendRequests& requests_;
    NetworkListener& listener_;
    PollCounters& counters_;
    std::vector<Peer> waiting_; // with an open message
};

} // namespace zipmpi::transport::ofi
