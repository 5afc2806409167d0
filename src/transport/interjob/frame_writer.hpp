// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Writes the queued frames of connections to their sockets.
#pragma once

#include "transport/interjob/connection_table.hpp"

#include <sys/types.h>

namespace zipmpi::interjob {

class FrameWriter {
  public:
    FrameWriter(ConnectionTable& table, transport::NetworkListener& listener);
    // Writes as much as the socket accepts.
    void write_out(Connection& c);

  private:
    ssize_t write_some(const Connection& c, QueuedFrame& out);

    ConnectionTable& table_;
    transport::NetworkListener& listener_;
    std::vector<std::byte> pack_buffer_; // for packed bytes of noncontiguous memory
};

} // namespace zipmpi::interjob
