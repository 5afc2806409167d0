// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Counts the sends to a peer between two progress calls: those after the first few share a network message.
#pragma once

#include <cstdint>

namespace zipmpi::transport {

struct SendBurst {
    uint32_t poll_id = 0; // in which the last one was sent
    uint32_t sent = 0;

    uint32_t count(uint32_t current_poll) {
        if (poll_id != current_poll) sent = 0;
        poll_id = current_poll;
        return ++sent;
    }
};

} // namespace zipmpi::transport
