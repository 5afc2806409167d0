// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Counts of a network engine, shared by its components.
#pragma once

#include <cstdint>

namespace zipmpi::transport {

struct PollCounters {
    uint32_t poll_id = 1;           // number of the current progress call
    int events = 0;                 // since it began
    uint64_t rejected_messages = 0; // without a valid token or MAC
};

} // namespace zipmpi::transport
