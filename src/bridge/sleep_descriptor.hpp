// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A descriptor that becomes readable when one of several others is, or at a given time.
#pragma once

#include "os/fd.hpp"

#include <cstdint>

namespace zipmpi::bridge {

class SleepDescriptor {
  public:
    SleepDescriptor();
    [[nodiscard]] bool open(); // false: no descriptors available
    bool add(int descriptor);  // false: as open()
    [[nodiscard]] int get() const { return epoll_.get(); }
    // Returns false if `due` has passed; ~0: never.
    bool set_timer(uint64_t due);

  private:
    os::Fd epoll_, timer_;
    uint64_t timer_ns_ = 0; // expiry of the timer; 0: not set
};

} // namespace zipmpi::bridge
