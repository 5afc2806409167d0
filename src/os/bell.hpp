// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Waking a process that sleeps on descriptors: a datagram to a socket in the abstract namespace. Anybody on
// the host could send one; all it does is make the sleeper look.
#pragma once

#include "os/fd.hpp"

#include <cstdint>

namespace zipmpi::os {

class Bell {
  public:
    // Opens the own socket and gives its name; 0: sockets are refused.
    uint64_t hang() noexcept;
    // Wakes whoever has hung a bell of this name.
    void ring(uint64_t name) noexcept;
    // Until the own bell rings or the other descriptor is readable. False: the time is over.
    bool wait(int other, int64_t timeout_ns) const noexcept;

  private:
    Fd own_;
    Fd sender_;
};

} // namespace zipmpi::os
