// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Removes connections that have ended or are broken, and reports failed peers. Runs only when no caller uses
// a connection.
#pragma once

#include "transport/interjob/bulk_transfers.hpp"
#include "transport/interjob/connection_table.hpp"
#include "transport/interjob/external_peers.hpp"

namespace zipmpi::interjob {

class ConnectionSweeper {
  public:
    ConnectionSweeper(ExternalPeers& peers, ConnectionTable& table, BulkTransfers& transfers,
                      transport::NetworkListener& listener)
        : peers_(peers)
        , table_(table)
        , transfers_(transfers)
        , listener_(listener) {}
    void sweep();

  private:
    [[nodiscard]] bool has_open_connection(int external) const;
    void record_failure(const Connection& c);
    void remove_connections(int external, std::vector<NetworkOperation*>& unsent);
    void fail(int external, const char* why);
    void fail_sends(const std::vector<NetworkOperation*>& unsent);

    ExternalPeers& peers_;
    ConnectionTable& table_;
    BulkTransfers& transfers_;
    transport::NetworkListener& listener_;
};

} // namespace zipmpi::interjob
