// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Points in time of loops, in ns of os::now_ns(); 0 means never.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>

namespace zipmpi::launch {

// The earliest one; 0 if there is none.
[[nodiscard]] inline uint64_t earliest(std::initializer_list<uint64_t> times) {
    uint64_t next = 0;
    for (const uint64_t at : times)
        if (at != 0 && (next == 0 || at < next)) next = at;
    return next;
}

// Returns true if it has passed, and clears it.
[[nodiscard]] inline bool take_due(uint64_t& at, uint64_t now) {
    if (at == 0 || now < at) return false;
    at = 0;
    return true;
}

// Timeout for poll(2) and epoll_wait(2); -1: none.
[[nodiscard]] inline int wait_ms(uint64_t next, uint64_t now) {
    if (next == 0) return -1;
    return next <= now ? 0 : static_cast<int>(std::min<uint64_t>((next - now) / 1'000'000 + 1, 1U << 30));
}

} // namespace zipmpi::launch
