// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Combines the contributions to an agreement: in a daemon, into one event for all members on its node and on
// the nodes below, so that mpiexec receives one per child; in mpiexec, into that of all members. Members that
// have failed are not waited for. Pure: events in, events out.
#pragma once

#include "launch/protocol/messages.hpp"

#include <functional>
#include <map>
#include <utility>

namespace zipmpi::launch {

class AgreementGather {
  public:
    using RanksBelow = std::function<RankRanges()>; // on this node and on the nodes below
    using Send = std::function<void(const JobEvent& event)>;
    AgreementGather(RanksBelow ranks_below, Send send)
        : ranks_below_(std::move(ranks_below))
        , send_(std::move(send)) {}

    void
    process(const JobEvent& e); // of a rank of this node, or from a daemon below; others are sent as they are
    void fail(const RankRanges& ranks);
    void add_contribution(const JobEvent& e);
    void remove(uint32_t context, uint32_t number);
    [[nodiscard]] const RankRanges& failed() const { return failed_; }
    [[nodiscard]] size_t pending() const { return agreements_.size(); }

  private:
    struct Agreement {
        RankRanges missing; // members here and below that have neither contributed nor failed
        JobEvent combined;
    };
    using Key = std::pair<uint32_t, uint32_t>; // context, number
    using Iterator = std::map<Key, Agreement>::iterator;

    void send_if_complete(Iterator a);

    RanksBelow ranks_below_;
    Send send_;
    RankRanges failed_;
    std::map<Key, Agreement> agreements_;
};

} // namespace zipmpi::launch
