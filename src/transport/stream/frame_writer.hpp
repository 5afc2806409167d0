// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Writes frames to sockets: several queued frames by one system call.
#pragma once

#include "transport/stream/connection_table.hpp"

#include <sys/types.h>
#include <sys/uio.h>

namespace zipmpi::transport::stream {

class FrameWriter {
  public:
    FrameWriter(ConnectionTable& table, NetworkListener& listener);
    // Writes a frame to an open connection that has no queued frames, as far as the socket accepts it.
    // Returns false if it must be queued.
    bool write_now(Connection& c, QueuedFrame& out);
    // Writes as much as the socket accepts.
    void write_out(Connection& c);
    // Lets queued frames wait for flush(), so that others join them.
    void defer(Connection& c);
    void flush() {
        if (!deferred_.empty()) write_deferred();
    }
    [[nodiscard]] bool has_deferred() const { return !deferred_.empty(); }

  private:
    // Memory to be written.
    struct Parts {
        static constexpr size_t max = 64;
        iovec list[max];
        size_t count = 0;

        void add(std::byte* at, size_t bytes) { list[count++] = {at, bytes}; }
        [[nodiscard]] bool has_capacity() const { return count + 2 <= max; }
    };
    bool append_rest(QueuedFrame& out, Parts& parts);
    ssize_t write_parts(Connection& c, Parts& parts);
    bool seal(Connection& c, QueuedFrame& out);
    bool write_sealed(Connection& c);
    void take_written(Connection& c, uint64_t bytes);
    void write_deferred();

    ConnectionTable& table_;
    NetworkListener& listener_;
    std::vector<std::byte> pack_buffer_; // for packed bytes of noncontiguous memory
    std::string text_;                   // of a record
    std::vector<uint64_t> deferred_;     // connections
    std::vector<NetworkOperation*> finished_;
};

} // namespace zipmpi::transport::stream
