// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reads handshake messages and frames from connections, and delivers what they carry.
#pragma once

#include "transport/interjob/bulk_transfers.hpp"
#include "transport/interjob/frame_sender.hpp"

#include <span>

namespace zipmpi::interjob {

class FrameReader {
  public:
    // The services that it uses.
    struct Services {
        const ExternalPeers& peers;
        ConnectionTable& table;
        ConnectionSetup& setup;
        FrameSender& sender; // of data that a peer pulls
        BulkTransfers& transfers;
        transport::NetworkListener& listener;
    };
    explicit FrameReader(const Services& services);

    // Reads what has arrived on a connection. The listener may send, and thus write to this connection.
    void read_in(Connection& c);
    // Connections that sent invalid data.
    [[nodiscard]] uint64_t rejected() const { return rejected_; }

  private:
    bool read_in_place(Connection& c, bool& over);
    size_t feed(Connection& c, std::span<const std::byte> bytes);
    [[nodiscard]] static size_t wanted_bytes(const Connection& c);
    bool handle_head(Connection& c);
    bool begin_frame(Connection& c);
    [[nodiscard]] bool is_permitted(const Connection& c) const;
    size_t consume_data(Connection& c, std::span<const std::byte> bytes);
    void end_frame(Connection& c);
    void on_pull(int external, const FrameHeader& head);
    void on_closed(Connection& c);
    void reject(Connection& c);

    Services use_;
    std::vector<std::byte> read_buffer_;
    uint64_t rejected_ = 0;
};

} // namespace zipmpi::interjob
