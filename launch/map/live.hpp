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

// A look is short, half of the time within which a change is to be noticed: one look may see both patterns of
// a program that changes, two looks that see the same saw one.
class LiveMap {
  public:
    LiveMap() = default;
    LiveMap(HostCores cores, uint32_t ranks);

    struct Decision {
        bool move = false;
        std::string why; // in words, for whoever asks; empty: nothing was worth a thought
    };
    // What was sent since the last time, and how long that is ago.
    Decision look(const mapping::Graph& sent, double seconds);

    // Where each rank may run after a decision to move: all CPUs of the job if it is not to be bound.
    [[nodiscard]] std::vector<CpuList> cpus() const;

  private:
    // A move is tried: messages are counted after it, and if they are fewer, once more where the ranks were.
    enum class Trial : uint8_t { none, moved, taken_back };
    struct Known { // what trials have shown
        mapping::Graph pattern;
        bool pays = false;
        uint32_t looks_left = 0; // then it is tried again
    };

    Decision judge(const mapping::Graph& sent, double rate);
    Decision judge_move(const mapping::Graph& sent, double rate);
    Decision judge_return(const mapping::Graph& sent, double rate);
    Decision think(const mapping::Graph& sent, double rate);
    void begin(Trial trial);
    void remember(const mapping::Graph& sent, bool pays);
    [[nodiscard]] const Known* known(const mapping::Graph& sent) const;
    [[nodiscard]] double present_cost(const mapping::Graph& sent) const;

    HostCores cores_; // of the job: those that another job has are not among them
    mapping::Targets targets_;
    mapping::Assignment at_,
        other_;                 // `other_` is the other side of a trial; empty: the kernel places the ranks
    mapping::Graph last_;       // what the look before saw
    mapping::Graph thought_of_; // about which there is nothing new to think
    double last_rate_ = 0, thought_rate_ = 0, rate_before_ = 0, rate_moved_ = 0;
    Trial trial_ = Trial::none;
    uint32_t looks_of_trial_ = 0;
    double sum_of_trial_ = 0;
    std::vector<Known> known_;
};

} // namespace zipmpi::launch
