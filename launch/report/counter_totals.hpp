// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Counters of a rank from which `zipmpi top` computes rates, at one moment.
#pragma once

#include "base/counters.hpp"

#include <array>
#include <cstdint>

namespace zipmpi::launch {

inline constexpr std::array path_counters = {Counter::inline_messages, Counter::cells,
                                             Counter::rendezvous,      Counter::cma_copies,
                                             Counter::arena_copies,    Counter::coop_copies};

struct CounterTotals {
    uint64_t messages = 0, bytes = 0;                      // sent and received
    std::array<uint64_t, path_counters.size()> paths = {}; // in the order of path_counters
    uint64_t sends = 0;
    uint64_t unexpected = 0; // current number
};

inline CounterTotals read_totals(const Counters& c) {
    CounterTotals s;
    s.sends = c.get(Counter::sends);
    s.messages = s.sends + c.get(Counter::receives);
    s.bytes = c.get(Counter::send_bytes) + c.get(Counter::receive_bytes);
    s.unexpected = c.get(Counter::unexpected_length);
    for (size_t i = 0; i < path_counters.size(); ++i) s.paths[i] = c.get(path_counters[i]);
    return s;
}

} // namespace zipmpi::launch
