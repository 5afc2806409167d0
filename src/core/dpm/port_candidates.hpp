// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Connections at a port before their handshake: any process can connect, only those with an authentic hello
// are served. All are read concurrently, so a silent connection delays no other.
#pragma once

#include "os/fd.hpp"
#include "transport/stream/process_handshake.hpp"

#include <poll.h>
#include <string>
#include <vector>

namespace zipmpi::core {

bool is_authentic_hello(const transport::stream::Hello& hello, const std::string& secret);

class PortCandidates {
  public:
    static constexpr size_t max_candidates = 64;

    // False: all connections have an authentic hello and wait for MPI_Comm_accept.
    [[nodiscard]] bool has_capacity() const;
    // Adds a connection; if there are too many, the oldest without an authentic hello makes room.
    void add(os::Fd fd, uint64_t deadline_ns);
    void add_to(std::vector<pollfd>& fds) const;
    // Reads what has arrived, and drops connections that are closed, not authentic, or silent for too long.
    void read(const std::string& secret, uint64_t now_ns);
    // Removes the oldest connection with an authentic hello. Returns an empty descriptor if there is none.
    os::Fd take(transport::stream::Hello& hello);

  private:
    struct Candidate {
        os::Fd fd;
        uint64_t deadline_ns = 0;
        transport::stream::Hello hello{};
        size_t received = 0; // bytes of the hello
        bool authentic = false;
    };
    // Returns false if the connection is to be dropped.
    static bool read_one(Candidate& c, const std::string& secret, uint64_t now_ns);

    std::vector<Candidate> all_; // oldest first
};

} // namespace zipmpi::core
