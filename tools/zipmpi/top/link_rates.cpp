// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "top/link_rates.hpp"

#include "base/stable_sort.hpp"
#include "os/clock.hpp"
#include "segment/traffic.hpp"
#include "top/rank_table.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

namespace zipmpi::tool {
namespace {

constexpr size_t bar_columns = 20;

} // namespace

void LinkRates::sample(const segment::NodeSegment& segment, const launch::Snapshot& ranks) {
    const uint64_t now_ns = os::now_ns();
    const bool first = before_ns_ == 0;
    const double seconds =
        std::max(1e-6, static_cast<double>(now_ns - std::exchange(before_ns_, now_ns)) / 1e9);
    std::set<int> here;
    for (const launch::RankSnapshot& r : ranks) here.insert(r.rank);
    const segment::TrafficReader reader(segment);
    rows_.clear();
    links_ = 0;
    before_.resize(ranks.size());
    for (uint32_t i = 0; i < ranks.size(); ++i) {
        const std::vector<segment::PeerTotals> row = reader.row(i);
        links_ += row.size();
        before_[i].resize(row.size());
        for (size_t k = 0; k < row.size(); ++k) {
            const segment::PeerTotals& s = row[k];
            const Count now{s.point_to_point.messages, s.collective.messages,
                            s.point_to_point.bytes + s.collective.bytes};
            const Count before = std::exchange(before_[i][k], now);
            if (first || (now.messages == before.messages && now.collectives == before.collectives)) continue;
            rows_.push_back({ranks[i].rank, s.to, here.contains(s.to),
                             static_cast<double>(now.messages - before.messages) / seconds,
                             static_cast<double>(now.bytes - before.bytes) / seconds,
                             static_cast<double>(now.collectives - before.collectives) / seconds});
        }
    }
    stable_sort(rows_, [](const LinkRow& a, const LinkRow& b) {
        return std::pair(b.bytes, b.messages) < std::pair(a.bytes, a.messages);
    });
}

std::string LinkRates::summary() const {
    double here = 0;
    double inter_node = 0;
    for (const LinkRow& r : rows_) (r.intra_node ? here : inter_node) += r.bytes;
    std::string text = fmt::format("{} of {} links are busy: {}B/s within this node", rows_.size(), links_,
                                   here > 0 ? rate_text(here) : "0 ");
    if (inter_node > 0) text += fmt::format(", {}B/s to other nodes", rate_text(inter_node));
    return text;
}

std::string LinkRates::heading() {
    return fmt::format("{:>7} {:>7} {:>8} {:>8} {:>8}  {:<5} {}", "from", "to", "msg/s", "coll/s", "byte/s",
                       "where", "byte/s relative to the busiest");
}

std::string LinkRates::line_of(const LinkRow& r, double most_bytes) {
    const auto bar = static_cast<size_t>(most_bytes > 0 ? r.bytes / most_bytes * bar_columns + 0.5 : 0);
    return fmt::format("{:>7} {:>7} {:>8} {:>8} {:>8}  {:<5} {}", r.from, r.to, rate_text(r.messages),
                       rate_text(r.collectives), rate_text(r.bytes), r.intra_node ? "node" : "net",
                       std::string(std::min(bar, bar_columns), '#'));
}

} // namespace zipmpi::tool
