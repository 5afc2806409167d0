// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "top/rank_table.hpp"

#include "base/stable_sort.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace zipmpi::tool {
namespace {

using launch::PendingOp;
using launch::RankPhase;
using launch::RankSnapshot;

std::string state_of(const RankSnapshot& p) {
    if (p.phase == RankPhase::no_mpi) return "starting";
    if (p.phase == RankPhase::finalized) return "done";
    if (p.phase == RankPhase::exited) return "exited";
    if (p.function.empty()) return "computing";
    return p.asleep ? "waiting" : "in MPI";
}

std::string rank_text(int32_t rank) {
    if (rank == recorder_none) return "-";
    return rank == recorder_any ? "any" : std::to_string(rank);
}

// The peer that the rank waits for or communicates with.
std::string peer_of(const RankSnapshot& p) {
    if (p.phase != RankPhase::running || p.function.empty()) return "-";
    if (!p.asleep || p.waits.empty()) return rank_text(p.peer);
    const PendingOp& w = p.waits.front();
    std::string text = w.kind == WaitKind::collective && w.world_peer < 0 ? "all" : rank_text(w.world_peer);
    if (p.wait_count > 1) text += fmt::format("+{}", p.wait_count - 1);
    return text;
}

// The most frequent path since the last sample, or since the start if there were no messages.
std::string path_of(const CounterTotals& before, const CounterTotals& now) {
    for (const bool recent : {true, false}) {
        size_t best = 0;
        uint64_t most = 0;
        uint64_t all = 0;
        for (size_t i = 0; i < std::size(path_names); ++i) {
            const uint64_t n = now.paths[i] - (recent ? before.paths[i] : 0);
            all += n;
            if (n > most) {
                most = n;
                best = i;
            }
        }
        const uint64_t sends = now.sends - (recent ? before.sends : 0);
        if (sends > 2 * all) return "net";
        if (most > 0) return path_names[best];
    }
    return "-";
}

template <class Key>
void sort_by(std::vector<RankRow>& rows, bool reverse, Key key) {
    stable_sort(rows, [&](const RankRow& a, const RankRow& b) {
        return reverse ? key(b) < key(a) : key(a) < key(b);
    });
}

// The sort key precedes the name.
constexpr const char* headings[] = {"r:rank",  "s:state",  "c:call",  "p:peer",
                                    "m:msg/s", "b:byte/s", "u:unexp", "path"};
constexpr int widths[] = {-8, 10, 20, -8, -8, -9, -8, 9}; // negative: right-aligned

std::string cell(const std::string& text, int width) {
    const auto text_width = static_cast<size_t>(std::abs(width)) - 1; // one blank between columns
    const std::string cut = text.substr(0, text_width);
    return width < 0 ? fmt::format("{:>{}} ", cut, text_width) : fmt::format("{:<{}} ", cut, text_width);
}

} // namespace

RankRow make_row(const RankSnapshot& snapshot, const CounterTotals& before, const CounterTotals& now,
                 double seconds) {
    RankRow row;
    row.rank = snapshot.rank;
    row.state = state_of(snapshot);
    row.call = snapshot.phase == RankPhase::running ? snapshot.function : "";
    row.peer = peer_of(snapshot);
    row.path = path_of(before, now);
    row.messages = static_cast<double>(now.messages - before.messages) / seconds;
    row.bytes = static_cast<double>(now.bytes - before.bytes) / seconds;
    row.unexpected = now.unexpected;
    return row;
}

void sort_rows(std::vector<RankRow>& rows, const Order& order) {
    sort_by(rows, order.reverse && order.by == Column::rank, [](const RankRow& r) { return r.rank; });
    const bool reverse = order.reverse;
    switch (order.by) {
    case Column::rank:
        return;
    case Column::state:
        return sort_by(rows, reverse, [](const RankRow& r) { return r.state; });
    case Column::call:
        return sort_by(rows, reverse, [](const RankRow& r) { return r.call; });
    case Column::peer:
        return sort_by(rows, reverse, [](const RankRow& r) { return std::pair(r.peer.size(), r.peer); });
    case Column::messages: // numbers: largest first
        return sort_by(rows, !reverse, [](const RankRow& r) { return r.messages; });
    case Column::bytes:
        return sort_by(rows, !reverse, [](const RankRow& r) { return r.bytes; });
    case Column::unexpected:
        return sort_by(rows, !reverse, [](const RankRow& r) { return r.unexpected; });
    case Column::path:
        return sort_by(rows, reverse, [](const RankRow& r) { return r.path; });
    }
}

std::string rate_text(double per_second) {
    if (per_second <= 0) return "-";
    const char* unit = "";
    for (const char* larger : {"k", "M", "G", "T"}) {
        if (per_second < 1000) break;
        per_second /= 1000;
        unit = larger;
    }
    return per_second < 10 && *unit != '\0' ? fmt::format("{:.1f}{}", per_second, unit)
                                            : fmt::format("{:.0f}{}", per_second, unit);
}

std::string heading(const Order& order, Hosts hosts) {
    std::string out;
    for (size_t i = 0; i < std::size(headings); ++i) {
        const bool chosen = static_cast<size_t>(order.by) == i;
        out += cell(headings[i] + std::string(chosen ? order.reverse ? "^" : "v" : ""), widths[i]);
    }
    return hosts == Hosts::all ? out + "host" : out;
}

std::string line_of(const RankRow& r) {
    const std::string cells[] = {std::to_string(r.rank),
                                 r.state,
                                 r.call,
                                 r.peer,
                                 rate_text(r.messages),
                                 rate_text(r.bytes),
                                 r.unexpected == 0 ? "-" : std::to_string(r.unexpected),
                                 r.path};
    std::string out;
    for (size_t i = 0; i < std::size(cells); ++i) out += cell(cells[i], widths[i]);
    return out + r.host;
}

std::string summary(const launch::Snapshot& ranks) {
    std::string out = fmt::format("{} rank{}:", ranks.size(), ranks.size() == 1 ? "" : "s");
    const char* comma = " ";
    for (const char* state : {"computing", "waiting", "in MPI", "starting", "done"}) {
        const auto n = std::count_if(ranks.begin(), ranks.end(),
                                     [&](const RankSnapshot& p) { return state_of(p) == state; });
        if (n == 0) continue;
        out += fmt::format("{}{} {}", comma, n, state);
        comma = ", ";
    }
    return out;
}

} // namespace zipmpi::tool
