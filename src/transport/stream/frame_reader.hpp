// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reads handshake messages and frames from connections, and delivers what they carry.
#pragma once

#include "transport/stream/bulk_transfers.hpp"
#include "transport/stream/frame_sender.hpp"

#include <span>

namespace zipmpi::transport::stream {

// Receives what gateways and ranks send each other over a connection.
class RelayListener {
  public:
    virtual void relayed_arrived(int peer, std::span<const std::byte> frames) = 0; // one or several
    virtual void offer_arrived(int peer, std::span<const std::byte> offer) = 0;

  protected:
    ~RelayListener() = default;
};

class FrameReader {
  public:
    // The services that it uses.
    struct Services {
        PeerSet& peers;
        ConnectionTable& table;
        ConnectionSetup& setup;
        FrameSender& sender; // of data that a peer pulls
        BulkTransfers& transfers;
        NetworkListener& listener;
        RelayListener* relays; // null: no frames of gateways are accepted
    };
    explicit FrameReader(const Services& services);

    // Reads what has arrived on a connection. The listener may send, and thus write to this connection.
    void read_in(Connection& c);
    // Connections that sent invalid data.
    [[nodiscard]] uint64_t rejected() const { return rejected_; }

  private:
    enum class InPlace { no, done, drained, closed };
    InPlace read_in_place(Connection& c);
    void receive(Connection& c, std::span<const std::byte> bytes);
    size_t feed(Connection& c, std::span<const std::byte> bytes);
    size_t feed_whole(Connection& c, std::span<const std::byte> bytes);
    [[nodiscard]] static size_t wanted_bytes(const Connection& c);
    bool handle_head(Connection& c);
    [[nodiscard]] bool may_begin(const Connection& c, const FrameHeader& head,
                                 const std::byte* payload) const;
    bool begin_frame(Connection& c);
    size_t consume_data(Connection& c, std::span<const std::byte> bytes);
    void end_frame(Connection& c);
    void deliver(Connection& c, const FrameHeader& head, const std::byte* payload,
                 std::span<const std::byte> data);
    void on_pull(int peer, const FrameHeader& head);
    void on_closed(Connection& c);
    void reject(Connection& c);

    Services use_;
    std::vector<std::byte> read_buffer_;
    std::string opened_; // text of records
    uint64_t rejected_ = 0;
};

} // namespace zipmpi::transport::stream
