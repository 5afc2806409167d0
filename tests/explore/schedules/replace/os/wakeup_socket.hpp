// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Replaces src/os/wakeup_socket.hpp: one flag per socket; the test decides when the other descriptor is
// readable.
#pragma once

#include "schedules.hpp"

namespace zipmpi::os {

struct WakeupSockets {
    std::vector<bool> notified{false}; // indexed by name; index 0 is unused
    std::function<bool()> other_is_readable = [] { return false; };
};
inline WakeupSockets wakeup_sockets; // reset for each schedule

class WakeupSocket {
  public:
    uint64_t open() noexcept {
        receiver_ = wakeup_sockets.notified.size();
        wakeup_sockets.notified.push_back(false);
        return receiver_;
    }
    void notify(uint64_t name) noexcept {
        explore::point();
        explore::drain_own();
        wakeup_sockets.notified[name] = true;
    }
    bool wait(int /*other*/, int64_t /*timeout_ns*/) const noexcept {
        explore::wait_until(
            [this] { return wakeup_sockets.notified[receiver_] || wakeup_sockets.other_is_readable(); });
        wakeup_sockets.notified[receiver_] = false;
        return true;
    }

  private:
    uint64_t receiver_ = 0;
};

} // namespace zipmpi::os
