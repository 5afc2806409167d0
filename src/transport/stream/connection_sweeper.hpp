// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Removes connections that have ended or are broken, and reports failed peers. Runs only when no caller uses
// a connection.
#pragma once

#include "transport/stream/bulk_transfers.hpp"
#include "transport/stream/connection_table.hpp"
#include "transport/stream/peer_set.hpp"

namespace zipmpi::transport::stream {

class ConnectionSweeper {
  public:
    ConnectionSweeper(PeerSet& peers, ConnectionTable& table, BulkTransfers& transfers,
                      NetworkListener& listener)
        : peers_(peers)
        , table_(table)
        , transfers_(transfers)
        , listener_(listener) {}
    void sweep();
    // Reports lost connections whose peer the launcher has not reported as failed.
    void check_lost() {
        if (!lost_.empty()) [[unlikely]]
            report_lost_connections();
    }
    // Ends all connections of a peer; what is in flight to and from it fails.
    void remove_peer(int peer);

  private:
    [[nodiscard]] bool has_open_connection(int peer) const;
    [[nodiscard]] Connection* find_open(const Connection& c) const;
    [[nodiscard]] bool has_ended(const Connection& c) const;
    bool note_end(const Connection& c);
    void report_lost_connections();
    bool fail(int peer);
    void fail_sends(const std::vector<NetworkOperation*>& unsent);

    PeerSet& peers_;
    ConnectionTable& table_;
    BulkTransfers& transfers_;
    NetworkListener& listener_;
    std::vector<int> lost_; // peers whose connection is lost
};

} // namespace zipmpi::transport::stream
