// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Sequences the events that all ranks of a job must see alike: failed ranks, revoked communicators and
// agreements. mpiexec is the single point that orders them. An agreement completes when every member has
// contributed or failed; because failures are ordered as well, all members see one set of failed ranks with a
// result. Pure: events in, events out.
#pragma once

#include "launch/protocol/messages.hpp"

#include <functional>
#include <map>
#include <set>
#include <utility>

namespace zipmpi::launch {

class FaultSequencer {
  public:
    using Broadcast = std::function<void(const JobEvent& event)>; // to all daemons
    FaultSequencer(uint32_t world_size, Broadcast broadcast)
        : world_size_(world_size)
        , broadcast_(std::move(broadcast)) {}

    void process(const JobEvent& e);
    [[nodiscard]] bool has_failed(uint32_t rank) const { return failed_.count(rank) != 0; }
    [[nodiscard]] uint32_t failures() const { return static_cast<uint32_t>(failed_.size()); }

  private:
    struct Agreement {
        std::set<uint32_t> missing; // members that have neither contributed nor failed
        uint32_t flags = ~0U;
        uint32_t value = 0;
    };
    using Key = std::pair<uint32_t, uint32_t>; // context, number

    void fail(uint32_t rank);
    void revoke(uint32_t context);
    void exclude_unreachable(uint32_t rank, uint32_t by);
    void add_contribution(const JobEvent& e);
    void decide_if_complete(std::map<Key, Agreement>::iterator a);

    uint32_t world_size_;
    Broadcast broadcast_;
    std::set<uint32_t> failed_, revoked_, excluded_;
    std::map<Key, Agreement> agreements_;
};

// Parses "0-3,7" as ranks below a limit. Returns false if the text is not valid.
bool parse_ranks(std::string_view text, uint32_t limit, std::set<uint32_t>& ranks);

} // namespace zipmpi::launch
