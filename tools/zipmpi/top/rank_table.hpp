// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One row per rank, from the node segment, and the table of these rows.
#pragma once

#include "launch/report/snapshot.hpp"
#include "segment/node_segment.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace zipmpi::tool {

// Counters from which rates are computed, at one moment.
struct CounterTotals {
    uint64_t messages = 0, bytes = 0; // sent and received
    uint64_t paths[6] = {};           // in the order of path_names
    uint64_t sends = 0;
    uint64_t unexpected = 0; // current number
};
inline constexpr const char* path_names[] = {"inline", "cell", "pipeline", "cma", "arena", "coop"};

struct RankRow {
    int rank = 0;
    std::string state, call, peer, path;
    double messages = 0, bytes = 0; // per second
    uint64_t unexpected = 0;
};

enum class Column { rank, state, call, peer, messages, bytes, unexpected, path };
struct Order {
    Column by = Column::rank;
    bool reverse = false;
};

CounterTotals read_totals(const Counters& counters);
RankRow make_row(const launch::RankSnapshot& snapshot, const CounterTotals& before, const CounterTotals& now,
                 double seconds);
void sort_rows(std::vector<RankRow>& rows, const Order& order);

std::string heading(const Order& order);
std::string line_of(const RankRow& row);
std::string summary(const launch::Snapshot& ranks); // "4 ranks: 1 computing, 3 waiting"
std::string rate_text(double per_second);           // at most 6 characters: 12, 1.2k, 345M

} // namespace zipmpi::tool
