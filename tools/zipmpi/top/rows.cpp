// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "top/rows.hpp"

#include "base/stable_sort.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace zipmpi::tool {
namespace {

using launch::Life;
using launch::RankPlace;
using launch::WaitPlace;

std::string state_of(const RankPlace& p) {
    if (p.life == Life::no_mpi) return "starting";
    if (p.life == Life::finalized) return "done";
    if (p.life == Life::gone) return "gone";
    if (p.function.empty()) return "computing";
    return p.asleep ? "waiting" : "in MPI";
}

std::string rank_text(int32_t rank) {
    if (rank == recorder_none) return "-";
    return rank == recorder_any ? "any" : std::to_string(rank);
}

// Whom it waits for, or whom it speaks to.
std::string peer_of(const RankPlace& p) {
    if (p.life != Life::running || p.function.empty()) return "-";
    if (!p.asleep || p.waits.empty()) return rank_text(p.peer);
    const WaitPlace& w = p.waits.front();
    std::string text = w.kind == WaitKind::collective && w.world_peer < 0 ? "all" : rank_text(w.world_peer);
    if (p.wait_count > 1) text += fmt::format("+{}", p.wait_count - 1);
    return text;
}

// The way that most messages have taken: in this time, or since the start if there were none.
std::string path_of(const Sums& before, const Sums& now) {
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
void sort_by(std::vector<Row>& rows, bool reverse, Key key) {
    stable_sort(rows,
                [&](const Row& a, const Row& b) { return reverse ? key(b) < key(a) : key(a) < key(b); });
}

// The key stands in front of the name.
constexpr const char* headings[] = {"r:rank",  "s:state",  "c:call",  "p:peer",
                                    "m:msg/s", "b:byte/s", "u:unexp", "path"};
constexpr int widths[] = {-8, 10, 21, -8, -8, -9, -8, 7}; // negative: to the right

std::string cell(const std::string& text, int width) {
    const auto room = static_cast<size_t>(std::abs(width)) - 1; // one blank between two
    const std::string cut = text.substr(0, room);
    return width < 0 ? fmt::format("{:>{}} ", cut, room) : fmt::format("{:<{}} ", cut, room);
}

} // namespace

Sums read_sums(const Counters& c) {
    Sums s;
    s.sends = c.get(Counter::sends);
    s.messages = s.sends + c.get(Counter::receives);
    s.bytes = c.get(Counter::send_bytes) + c.get(Counter::receive_bytes);
    s.unexpected = c.get(Counter::unexpected_now);
    constexpr Counter paths[] = {Counter::inline_messages, Counter::cells,         Counter::rendezvous,
                                 Counter::kernel_copies,   Counter::direct_copies, Counter::joint_copies};
    for (size_t i = 0; i < std::size(paths); ++i) s.paths[i] = c.get(paths[i]);
    return s;
}

Row make_row(const RankPlace& place, const Sums& before, const Sums& now, double seconds) {
    Row row;
    row.rank = place.rank;
    row.state = state_of(place);
    row.call = place.life == Life::running ? place.function : "";
    row.peer = peer_of(place);
    row.path = path_of(before, now);
    row.messages = static_cast<double>(now.messages - before.messages) / seconds;
    row.bytes = static_cast<double>(now.bytes - before.bytes) / seconds;
    row.unexpected = now.unexpected;
    return row;
}

void sort_rows(std::vector<Row>& rows, const Order& order) {
    sort_by(rows, order.reverse && order.by == Column::rank, [](const Row& r) { return r.rank; });
    const bool reverse = order.reverse;
    switch (order.by) {
    case Column::rank:
        return;
    case Column::state:
        return sort_by(rows, reverse, [](const Row& r) { return r.state; });
    case Column::call:
        return sort_by(rows, reverse, [](const Row& r) { return r.call; });
    case Column::peer:
        return sort_by(rows, reverse, [](const Row& r) { return std::pair(r.peer.size(), r.peer); });
    case Column::messages: // numbers: the largest first
        return sort_by(rows, !reverse, [](const Row& r) { return r.messages; });
    case Column::bytes:
        return sort_by(rows, !reverse, [](const Row& r) { return r.bytes; });
    case Column::unexpected:
        return sort_by(rows, !reverse, [](const Row& r) { return r.unexpected; });
    case Column::path:
        return sort_by(rows, reverse, [](const Row& r) { return r.path; });
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

std::string heading(const Order& order) {
    std::string out;
    for (size_t i = 0; i < std::size(headings); ++i) {
        const bool chosen = static_cast<size_t>(order.by) == i;
        out += cell(headings[i] + std::string(chosen ? order.reverse ? "^" : "v" : ""), widths[i]);
    }
    return out;
}

std::string line_of(const Row& r) {
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
    return out;
}

std::string summary(const launch::Snapshot& ranks) {
    std::string out = fmt::format("{} rank{}:", ranks.size(), ranks.size() == 1 ? "" : "s");
    const char* comma = " ";
    for (const char* state : {"computing", "waiting", "in MPI", "starting", "done"}) {
        const auto n = std::count_if(ranks.begin(), ranks.end(),
                                     [&](const RankPlace& p) { return state_of(p) == state; });
        if (n == 0) continue;
        out += fmt::format("{}{} {}", comma, n, state);
        comma = ", ";
    }
    return out;
}

} // namespace zipmpi::tool
