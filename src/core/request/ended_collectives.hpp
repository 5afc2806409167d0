// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// EndedCollectives: nonblocking collectives whose end the program has not seen yet.
//
// Programs find unknown peers in rounds of MPI_Issend, MPI_Iprobe and MPI_Ibarrier, often with the same tag
// in every round. A message of the next round may arrive before the program has seen the end of the barrier.
// A probe that reported it then would give it to the wrong round: each end hides messages from one probe.
//
// Threads: under the lock of the progress engine.
#pragma once

#include <cstdint>
#include <utility>

namespace zipmpi::core {

class EndedCollectives {
  public:
    void add() {
        ++unseen_;
        is_new_ = true;
    }
    // The program has completed the request.
    void remove() { --unseen_; }
    // Whether one has ended since the last call, unseen.
    [[nodiscard]] bool take_new() { return std::exchange(is_new_, false) && unseen_ != 0; }

  private:
    uint32_t unseen_ = 0;
    bool is_new_ = false;
};

inline constinit EndedCollectives ended_collectives;

} // namespace zipmpi::core
