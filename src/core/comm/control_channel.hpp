// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Messages by which a subset of processes agrees on a new communicator. They use the context of a team's
// collectives; ranks are those of the team.
#pragma once

#include "proto/team.hpp"

#include <cstddef>
#include <vector>

namespace zipmpi::core {

class ControlChannel {
  public:
    // Uses a user tag, separate from collectives. The two largest tags are treated as one, because -2 is the
    // wildcard.
    ControlChannel(const proto::Team& team, int tag);
    // Used as a step of a collective: all members of the team construct one.
    static ControlChannel collective(proto::Team& team);
    // Between processes that share no communicator: world ranks, and a text instead of a tag.
    static ControlChannel without_comm(const char* text);

    Err send(int to, const void* data, size_t bytes) const;
    Err recv(int from, void* data, size_t bytes) const;
    // Sends to one rank while receiving from another (possibly equal) rank that makes the matching call.
    Err sendrecv(int to, const void* out, size_t out_bytes, int from, void* in, size_t in_bytes) const;
    Err exchange(int with, const void* out, size_t out_bytes, void* in, size_t in_bytes) const {
        return sendrecv(with, out, out_bytes, with, in, in_bytes);
    }
    // From the first of these ranks to the others; this process has index `own_index`. ceil(log2 n) steps.
    Err broadcast(const std::vector<int>& ranks, int own_index, void* data, size_t bytes) const;

    [[nodiscard]] int rank() const { return team_.rank; }

  private:
    Err run(proto::Operation op) const;
    [[nodiscard]] proto::Operation outgoing(int to, const void* data, size_t bytes) const;
    [[nodiscard]] proto::Operation incoming(int from, void* data, size_t bytes) const;
    proto::Team team_; // with the context of the messages
    int tag_;
};

} // namespace zipmpi::core
