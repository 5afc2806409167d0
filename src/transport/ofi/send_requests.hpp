// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Messages that libfabric has not completed, or not accepted yet, with the memory that it reads until then.
#pragma once

#include "transport/frame_network.hpp"
#include "transport/ofi/endpoint.hpp"
#include "transport/ofi/peer_table.hpp"

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace zipmpi::transport::ofi {

// The data of a rendezvous message on its way to the receiver.
struct BulkSend {
    BufferRef data;
    std::vector<std::byte> packed; // of noncontiguous data
    uint64_t segments_left = 0;
};

// A message: `bytes` and the memory `in_place`, or `packed`; with a tag: `in_place` only.
struct SendRequest : OperationContext {
    enum class State {
        free,
        open,   // being filled
        queued, // not accepted by libfabric yet
        posted,
        abandoned, // posted, and its operations were reported
        lost       // has failed, and the launcher decides what becomes of the peer
    };
    State state = State::free;
    Peer to = 0;
    size_t used = 0; // of bytes
    std::array<std::byte, 8192> bytes;
    std::vector<std::byte> packed;
    std::span<const std::byte> in_place;
    std::optional<uint64_t> tag;
    NetworkOperation* operation = nullptr; // that owns in_place
    std::vector<NetworkOperation*> copied; // whose data was copied; done when libfabric has the message
    FrameTicket* ticket = nullptr;         // of a frame that owns in_place
    std::shared_ptr<BulkSend> bulk;        // that owns in_place
    uint64_t watched_ns = 0;               // since when it is known that the peer may have ended
    SendRequest* next_free = nullptr;

    [[nodiscard]] size_t room() const { return bytes.size() - used; }
    void append(const void* from, size_t count);
};

class SendRequests final : public CompletionHandler {
  public:
    enum class Outcome {
        sent,   // libfabric has the message
        queued, // it will be sent later
        failed  // the request is released
    };

    // frames: may be null.
    SendRequests(Endpoint& endpoint, PeerTable& peers, NetworkListener& listener, FrameListener* frames,
                 PollCounters& counters)
        : endpoint_(endpoint)
        , peers_(peers)
        , listener_(listener)
        , frames_(frames)
        , counters_(counters) {}
    SendRequests(const SendRequests&) = delete;
    SendRequests& operator=(const SendRequests&) = delete;

    SendRequest& acquire(const PeerState& to);
    // Sends a request after those that wait for the same peer.
    Outcome post(SendRequest& request);
    void retry(); // those that were not accepted
    // The peer has failed, or its connection was reset: what is in flight to it fails.
    void abandon(PeerState& peer);
    // Peers that may have ended, and to which a request does not complete: libfabric may try indefinitely.
    std::vector<Peer> find_stalled();
    [[nodiscard]] bool idle() const { return in_flight_ == 0; }
    [[nodiscard]] bool has_queued() const { return !waiting_.empty(); }

    void completed(OperationContext& operation, const Completion& completion) override;

  private:
    Posted transmit(SendRequest& request);
    bool send_queued(PeerState& to);
    void report_copied(SendRequest& request, OpStatus outcome);
    void fail(SendRequest& request, const char* why);
    void finish(SendRequest& request, OpStatus outcome);
    void release(SendRequest& request);

    Endpoint& endpoint_;
    PeerTable& peers_;
    NetworkListener& listener_;
    FrameListener* frames_;
    PollCounters& counters_;
    std::deque<SendRequest> requests_;
    SendRequest* free_ = nullptr;
    uint64_t in_flight_ = 0;    // without those that are abandoned
    std::vector<Peer> waiting_; // with queued requests
};

} // namespace zipmpi::transport::ofi
