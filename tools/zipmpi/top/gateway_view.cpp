// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "top/gateway_view.hpp"

#include "os/clock.hpp"
#include "top/rows.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fmt/format.h>
#include <sys/stat.h>
#include <utility>

namespace zipmpi::tool {
namespace {

constexpr size_t kept = 200; // values of a plot
constexpr auto relaxed = std::memory_order_relaxed;

bool runs(pid_t pid) { return kill(pid, 0) == 0 || errno == EPERM; }

} // namespace

GatewayView::GatewayView(const TopOptions& options) {
    for (SharedFile& file : find_shared_files(gateway::shown_name)) {
        const auto& who = file.holders;
        if (options.pid != 0 && !any_started_by(who, options.pid)) continue;
        struct stat st {};
        if (fstat(file.fd.get(), &st) != 0 || static_cast<size_t>(st.st_size) < sizeof(gateway::Shown))
            continue;
        Gateway g{who.front(), os::Mapping(file.fd.get(), sizeof(gateway::Shown), os::Access::read_only), {}};
        if (!g.map || g.shown().magic != gateway::shown_magic) continue;
        if (std::string(g.shown().job_id).find(options.job) == std::string::npos) continue;
        for (const auto& lane : g.shown().networks)
            if (lane.name[0] != '\0') g.lanes.push_back({&lane, 0, 0, 0, {}});
        for (const auto& lane : g.shown().links)
            if (lane.name[0] != '\0') g.lanes.push_back({&lane, 0, 0, 0, {}});
        gateways_.push_back(std::move(g));
    }
    sample();
    for (Gateway& g : gateways_)
        for (Lane& lane : g.lanes) lane.bytes.clear(); // since when is not known
}

void GatewayView::take(Lane& lane, double seconds) {
    const uint64_t frames = lane.counters->frames.load(relaxed);
    const uint64_t bytes = lane.counters->bytes.load(relaxed);
    lane.frames = static_cast<double>(frames - std::exchange(lane.frames_before, frames)) / seconds;
    lane.bytes.push_back(static_cast<double>(bytes - std::exchange(lane.bytes_before, bytes)) / seconds);
    if (lane.bytes.size() > kept) lane.bytes.pop_front();
}

bool GatewayView::sample() {
    const uint64_t now = os::now_ns();
    const double seconds = std::max(1e-6, static_cast<double>(now - std::exchange(before_ns_, now)) / 1e9);
    for (Gateway& g : gateways_)
        for (Lane& lane : g.lanes) take(lane, seconds);
    return std::any_of(gateways_.begin(), gateways_.end(), [](const Gateway& g) { return runs(g.pid); });
}

std::string plot(const std::deque<double>& values, size_t columns) {
    constexpr std::string_view heights = "_.-=#"; // none to all
    const size_t n = std::min(values.size(), columns);
    const double most = n == 0 ? 0 : *std::max_element(values.end() - static_cast<long>(n), values.end());
    std::string out;
    for (size_t i = values.size() - n; i < values.size(); ++i) {
        const double part = most > 0 ? values[i] / most : 0;
        out += heights[std::min(heights.size() - 1, static_cast<size_t>(part * 4 + 0.999))];
    }
    return out;
}

std::string GatewayView::line_of(const Lane& lane, size_t columns) {
    const std::string text =
        fmt::format("  {:<24.24} {:>8} {:>8} {:>7} {:>7}  ", lane.counters->name, rate_text(lane.frames),
                    rate_text(lane.bytes.empty() ? 0 : lane.bytes.back()),
                    lane.counters->queued.load(relaxed), lane.counters->lost.load(relaxed));
    return text + plot(lane.bytes, columns > text.size() ? columns - text.size() : 1);
}

std::vector<std::string> GatewayView::lines(size_t, size_t columns, size_t& bright) {
    std::vector<std::string> out{fmt::format("{:<26} {:>8} {:>8} {:>7} {:>7}  {}", "lane", "frame/s",
                                             "byte/s", "queued", "lost", "byte/s over time")};
    bright = 0;
    for (const Gateway& g : gateways_) {
        const gateway::Counters& all = g.shown().all;
        out.push_back(fmt::format(
            "gateway {} of job {} (pid {}): {} messages, {} dropped, {} refused, {} KiB here",
            g.shown().number, g.shown().job_id, g.pid, all.messages.load(relaxed), all.dropped.load(relaxed),
            all.refused.load(relaxed), all.held_bytes.load(relaxed) / 1024));
        for (const Lane& lane : g.lanes) out.push_back(line_of(lane, columns));
    }
    out.emplace_back("q quit");
    return out;
}

} // namespace zipmpi::tool
