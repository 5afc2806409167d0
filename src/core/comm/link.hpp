// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Messages by which some processes agree on a new communicator without the rest. They run on the context of a
// team's collectives; ranks are those of the team.
#pragma once

#include "proto/team.hpp"

#include <cstddef>
#include <vector>

namespace zipmpi::core {

class Link {
  public:
    // With a tag of the program's, kept apart from collectives. The two largest count as one, because -2 is
    // the wildcard.
    Link(const proto::Team& team, int tag);
    // As a part of a collective: all members of the team make one.
    static Link collective(proto::Team& team);
    // Between processes that share no communicator: ranks of the job, and a text instead of a tag.
    static Link out_of_nothing(const char* text);

    Err send(int to, const void* data, size_t bytes) const;
    Err recv(int from, void* data, size_t bytes) const;
    // Sends to one while receiving from another, or the same, which does the like.
    Err shift(int to, const void* out, size_t out_bytes, int from, void* in, size_t in_bytes) const;
    Err exchange(int with, const void* out, size_t out_bytes, void* in, size_t in_bytes) const {
        return shift(with, out, out_bytes, with, in, in_bytes);
    }
    // From the first of these ranks to the others, of which this process is number `own`. ceil(log2 n) steps.
    Err broadcast(const std::vector<int>& ranks, int own, void* data, size_t bytes) const;

    [[nodiscard]] int rank() const { return team_.rank; }

  private:
    Err run(proto::Operation op) const;
    [[nodiscard]] proto::Operation outgoing(int to, const void* data, size_t bytes) const;
    [[nodiscard]] proto::Operation incoming(int from, void* data, size_t bytes) const;
    proto::Team team_; // with the context that the messages use
    int tag_;
};

} // namespace zipmpi::core
