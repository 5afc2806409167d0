// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Rendezvous messages. The sender announces them (rts). The receiver posts its memory under a random tag and
// tells the sender the tag (pull); the sender then sends the data in tagged messages of limited length. No
// tagged message is sent before its receive is posted, or is about to be: some providers would block behind
// it.
#pragma once

#include "transport/ofi/record_sender.hpp"
#include "transport/ofi/records.hpp"
#include "transport/stream/bulk_transfers.hpp"

namespace zipmpi::transport::ofi {

class BulkChannel final : public CompletionHandler {
  public:
    BulkChannel(Endpoint& endpoint, PeerTable& peers, SendRequests& requests, RecordSender& records,
                NetworkListener& listener, PollCounters& counters)
        : endpoint_(endpoint)
        , peers_(peers)
        , requests_(requests)
        , records_(records)
        , listener_(listener)
        , counters_(counters) {}

    // The peer must be ready.
    PostStatus announce(PeerState& to, const wire::Envelope& envelope, std::span<const std::byte> payload,
                        const BufferRef& data);
    void fetch(IncomingBulk& bytes, const BufferRef& to);
    void drop(IncomingBulk& bytes);
    void retry(); // receives that libfabric did not accept
    void abandon(const PeerState& peer);
    [[nodiscard]] bool idle() const { return !transfers_.has_sends(); }
    [[nodiscard]] bool has_queued() const { return !unposted_.empty(); }

    // Records of rts, pull, refuse. Returns false if they are invalid.
    bool record_arrived(PeerState& from, const Record& record);
    void completed(OperationContext& operation, const Completion& completion) override;

  private:
    struct Fetch : OperationContext {
        stream::BulkKey key{};
        BufferRef to;                  // without operation: it was reported
        std::vector<std::byte> packed; // of noncontiguous memory
        uint64_t tag = 0;
        uint64_t received = 0;
        bool posted = false;

        [[nodiscard]] std::span<std::byte> segment();
    };

    void send_control(PeerState& to, wire::OfiRecordKind kind, const wire::OfiBulk& bulk);
    void announced(PeerState& from, const Record& record, const wire::OfiBulk& bulk);
    void send_data(PeerState& to, const BufferRef& data, uint64_t tag);
    void post_receive(Fetch& fetch);
    void fail_fetch(Fetch& fetch);
    void finish_fetch(Fetch& fetch, OpStatus outcome);

    Endpoint& endpoint_;
    PeerTable& peers_;
    SendRequests& requests_;
    RecordSender& records_;
    NetworkListener& listener_;
    PollCounters& counters_;
    stream::BulkTransfers transfers_;
    std::unordered_map<Fetch*, std::unique_ptr<Fetch>> fetches_;
    std::vector<Fetch*> unposted_;
};

} // namespace zipmpi::transport::ofi
