// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// BarrierRounds: the nonblocking barriers of a communicator divide its messages into rounds. A synchronous
// message carries the number of barriers that its sender had completed. Once one rank has completed a
// barrier, all have entered it, so a message from a later round shows that a barrier in progress here will
// end: probes wait for it (request/ended_collectives.hpp has the reason).
//
// Threads: under the lock of the progress engine.
#pragma once

#include "wire/envelope.hpp"

#include <cstdint>

namespace zipmpi::core {

class BarrierRounds {
  public:
    void start() { ++started_; }
    void end() { ++ended_; }
    void complete() { ++completed_; } // by the program

    // For the flags of a synchronous message.
    [[nodiscard]] uint8_t flags() const { return static_cast<uint8_t>(completed_ << wire::round_shift); }
    // Whether the message was sent after a barrier that has not ended here.
    [[nodiscard]] bool is_later(const wire::Envelope& e) const {
        constexpr uint32_t most = wire::round_mask >> wire::round_shift;
        const uint32_t ahead = ((static_cast<uint32_t>(e.flags) >> wire::round_shift) - ended_) & most;
        return started_ != ended_ && (e.flags & wire::flag_synchronous) != 0 && ahead != 0 &&
               ahead <= most / 2;
    }

  private:
    uint32_t started_ = 0;
    uint32_t ended_ = 0;
    uint32_t completed_ = 0;
};

} // namespace zipmpi::core
