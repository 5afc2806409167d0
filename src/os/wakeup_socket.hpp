// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Wakes a process that sleeps on descriptors by a datagram to a socket in the abstract namespace. Any process
// on the host can send one, but the kernel drops those without the secret of the socket.
#pragma once

#include "os/fd.hpp"

#include <cstdint>

namespace zipmpi::os {

class WakeupSocket {
  public:
    // Opens this process's socket and returns its id, which contains the secret; 0: the kernel refuses
    // sockets.
    uint64_t open() noexcept;
    // Wakes the process whose socket has this id.
    void notify(uint64_t id) noexcept;
    // Sleeps until a wakeup arrives or the other descriptor is readable. Returns false on timeout.
    bool wait(int other, int64_t timeout_ns) const noexcept;

  private:
    Fd receiver_;
    Fd sender_;
};

} // namespace zipmpi::os
