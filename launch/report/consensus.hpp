// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What all ranks of a job must see alike: which ranks are gone, which communicators are revoked, and what
// the members of a communicator agree on. mpiexec is the one place where it is put in order. An agreement is
// made when every member has spoken or failed; since failures are in the same order, all that take it know
// the same failed ranks. Pure: events go in and out.
#pragma once

#include "launch/link/messages.hpp"

#include <functional>
#include <map>
#include <set>
#include <utility>

namespace zipmpi::launch {

class Consensus {
  public:
    using Tell = std::function<void(const Event& news)>; // to all daemons
    Consensus(uint32_t world_size, Tell tell)
        : world_size_(world_size)
        , tell_(std::move(tell)) {}

    void take(const Event& e);
    [[nodiscard]] bool has_failed(uint32_t rank) const { return failed_.count(rank) != 0; }
    [[nodiscard]] uint32_t failures() const { return static_cast<uint32_t>(failed_.size()); }

  private:
    struct Agreement {
        std::set<uint32_t> missing; // members that have neither spoken nor failed
        uint32_t flags = ~0U;
        uint32_t value = 0;
    };
    using Key = std::pair<uint32_t, uint32_t>; // context, number

    void fail(uint32_t rank);
    void revoke(uint32_t context);
    void give_up(uint32_t rank, uint32_t by);
    void speak(const Event& e);
    void decide_if_complete(std::map<Key, Agreement>::iterator a);

    uint32_t world_size_;
    Tell tell_;
    std::set<uint32_t> failed_, revoked_, given_up_;
    std::map<Key, Agreement> agreements_;
};

// "0-3,7" as ranks below a limit. False: it is something else.
bool parse_ranks(std::string_view text, uint32_t limit, std::set<uint32_t>& ranks);

} // namespace zipmpi::launch
