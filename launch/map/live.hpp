// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The live mapper: when to move the ranks of a node to other cores, from what they say to each other. The
// judgement is a pure state machine; the daemon gives it what was counted and carries out what it decides.
#pragma once

#include "launch/map/placement.hpp"

#include "mapping/best.hpp"

#include <string>

namespace zipmpi::launch {

class LiveMap {
  public:
    LiveMap() = default;
    LiveMap(std::vector<CpuList> cores, std::vector<topo::Place> places, uint32_t ranks);

    struct Decision {
        bool move = false;
        std::string why; // in words, for whoever asks; empty: nothing was worth a thought
    };
    // What was sent since the last time, and how long that is ago.
    Decision look(const mapping::Graph& sent, double seconds);

    // Where each rank may run after a decision to move: all CPUs of the machine if it is not to be bound.
    [[nodiscard]] std::vector<CpuList> cpus() const;

  private:
    Decision judge_last_move(const mapping::Graph& sent, double rate);
    Decision think(const mapping::Graph& sent, double rate);
    [[nodiscard]] double present_cost(const mapping::Graph& sent) const;
    [[nodiscard]] bool is_like_before(const mapping::Graph& sent, double rate) const;

    std::vector<CpuList> cores_;
    std::vector<topo::Place> places_;
    mapping::Targets targets_;
    mapping::Assignment at_, before_; // empty: the kernel places the ranks
    mapping::Graph thought_of_;       // about which there is nothing new to think
    double thought_rate_ = 0, rate_before_ = 0;
    bool just_moved_ = false;
    uint32_t patience_ = 0; // looks without a thought
};

} // namespace zipmpi::launch
