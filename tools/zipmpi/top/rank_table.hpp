// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One row per rank, from the node segment, and the table of these rows.
#pragma once

#include "launch/report/counter_totals.hpp"
#include "launch/report/snapshot.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace zipmpi::tool {

using launch::CounterTotals;
// In the order of CounterTotals::paths.
inline constexpr const char* path_names[] = {"inline", "cell", "pipeline", "cma", "arena", "coop"};

struct RankRow {
    int rank = 0;
    std::string state, call, peer, path;
    double messages = 0, bytes = 0; // per second
    uint64_t unexpected = 0;
    std::string host; // empty: this host
};

enum class Column { rank, state, call, peer, messages, bytes, unexpected, path };
enum class Hosts : uint8_t { this_one, all }; // all: with a column for them
struct Order {
    Column by = Column::rank;
    bool reverse = false;
};

RankRow make_row(const launch::RankSnapshot& snapshot, const CounterTotals& before, const CounterTotals& now,
                 double seconds);
void sort_rows(std::vector<RankRow>& rows, const Order& order);

std::string heading(const Order& order, Hosts hosts);
std::string line_of(const RankRow& row);
std::string summary(const launch::Snapshot& ranks); // "4 ranks: 1 computing, 3 waiting"
std::string rate_text(double per_second);           // at most 6 characters: 12, 1.2k, 345M

} // namespace zipmpi::tool
