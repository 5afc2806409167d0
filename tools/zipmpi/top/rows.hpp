// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One line per rank, from what ranks have written into the node segment; and the table made of them.
#pragma once

#include "boot/node_segment.hpp"
#include "launch/report/snapshot.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace zipmpi::tool {

// The counters that rates are made of, at one moment.
struct Sums {
    uint64_t messages = 0, bytes = 0; // sent and received
    uint64_t paths[6] = {};           // as path_names has them
    uint64_t sends = 0;
    uint64_t unexpected = 0; // now
};
inline constexpr const char* path_names[] = {"line", "cell", "stream", "kernel", "direct", "joint"};

struct Row {
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

Sums read_sums(const Counters& counters);
Row make_row(const launch::RankPlace& place, const Sums& before, const Sums& now, double seconds);
void sort_rows(std::vector<Row>& rows, const Order& order);

std::string heading(const Order& order);
std::string line_of(const Row& row);
std::string summary(const launch::Snapshot& ranks); // "4 ranks: 1 computes, 3 wait"
std::string rate_text(double per_second);           // at most 6 characters: 12, 1.2k, 345M

} // namespace zipmpi::tool
