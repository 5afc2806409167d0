// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "top/gateway_view.hpp"

#include "os/clock.hpp"
#include "top/plots.hpp"
#include "top/rows.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fmt/format.h>
#include <string_view>
#include <sys/stat.h>
#include <utility>

namespace zipmpi::tool {
namespace {

constexpr size_t kept = 200; // values of a plot
constexpr auto relaxed = std::memory_order_relaxed;

bool runs(pid_t pid) { return kill(pid, 0) == 0 || errno == EPERM; }

} // namespace

GatewayView::GatewayView(const TopOptions& options)
    : unicode_(terminal_has_unicode()) {
    for (SharedFile& file : find_shared_files(gateway::shown_name)) {
        const auto& who = file.holders;
        if (options.pid != 0 && !any_started_by(who, options.pid)) continue;
        struct stat st {};
        if (fstat(file.fd.get(), &st) != 0 || static_cast<size_t>(st.st_size) < sizeof(gateway::Shown))
            continue;
        Gateway g{
            who.front(), os::Mapping(file.fd.get(), sizeof(gateway::Shown), os::Access::read_only), {}, 0, 0};
        if (!g.map || g.shown().magic != gateway::shown_magic) continue;
        if (std::string(g.shown().job_id).find(options.job) == std::string::npos) continue;
        for (const auto& lane : g.shown().networks)
            if (lane.name[0] != '\0') g.lanes.push_back({&lane, 0, 0, 0, {}});
        for (const auto& lane : g.shown().links)
            if (lane.name[0] != '\0') g.lanes.push_back({&lane, 0, 0, 0, {}});
        gateways_.push_back(std::move(g));
    }
    std::ranges::sort(gateways_, {}, [](const Gateway& g) {
        return std::pair(std::string_view(g.shown().job_id), g.shown().number);
    });
    sample();
    sum_.clear(); // since when is not known
    for (Gateway& g : gateways_)
        for (Lane& lane : g.lanes) lane.bytes.clear();
}

double GatewayView::take(Lane& lane, double seconds) {
    const uint64_t frames = lane.counters->frames.load(relaxed);
    const uint64_t bytes = lane.counters->bytes.load(relaxed);
    lane.frames = static_cast<double>(frames - std::exchange(lane.frames_before, frames)) / seconds;
    lane.bytes.push_back(static_cast<double>(bytes - std::exchange(lane.bytes_before, bytes)) / seconds);
    if (lane.bytes.size() > kept) lane.bytes.pop_front();
    return lane.bytes.back();
}

bool GatewayView::sample() {
    const uint64_t now = os::now_ns();
    const double seconds = std::max(1e-6, static_cast<double>(now - std::exchange(before_ns_, now)) / 1e9);
    double sum = 0;
    for (Gateway& g : gateways_) {
        const uint64_t messages = g.shown().all.messages.load(relaxed);
        g.messages = static_cast<double>(messages - std::exchange(g.messages_before, messages)) / seconds;
        for (Lane& lane : g.lanes) sum += take(lane, seconds);
    }
    sum_.push_back(sum);
    if (sum_.size() > kept) sum_.pop_front();
    return std::any_of(gateways_.begin(), gateways_.end(), [](const Gateway& g) { return runs(g.pid); });
}

std::string GatewayView::line_of(const Lane& lane, size_t columns) const {
    std::string text =
        fmt::format("  {:<20.20} {:>8} {:>8} {:>7} {:>7}  ", lane.counters->name, rate_text(lane.frames),
                    rate_text(lane.bytes.empty() ? 0 : lane.bytes.back()),
                    lane.counters->queued.load(relaxed), lane.counters->lost.load(relaxed));
    if (lane.bytes.size() > 1 && columns > text.size())
        text += plot_line(lane.bytes, columns - text.size(), unicode_);
    return text;
}

std::string GatewayView::line_of(const Gateway& g) {
    const gateway::Counters& all = g.shown().all;
    std::string text =
        fmt::format("gateway {}, pid {}: {} msg/s ({} in all), {} KiB here", g.shown().number, g.pid,
                    rate_text(g.messages), all.messages.load(relaxed), all.held_bytes.load(relaxed) / 1024);
    if (!runs(g.pid)) text += ", GONE";
    if (const uint64_t n = all.dropped.load(relaxed); n > 0) text += fmt::format(", {} dropped", n);
    if (const uint64_t n = all.refused.load(relaxed); n > 0) text += fmt::format(", {} refused", n);
    return text;
}

std::vector<std::string> GatewayView::lines(size_t rows, size_t columns, size_t& bright) {
    std::vector<std::string> out{fmt::format("{:<22} {:>8} {:>8} {:>7} {:>7}  {}", "lane", "frame/s",
                                             "byte/s", "queued", "lost", "byte/s over time")};
    bright = 0;
    std::string job;
    for (const Gateway& g : gateways_) {
        if (const std::string of = g.shown().job_id; of != job) out.push_back("job " + (job = of));
        out.push_back(line_of(g));
        for (const Lane& lane : g.lanes) out.push_back(line_of(lane, columns));
    }
    constexpr size_t least_high = 3;
    constexpr size_t most_high = 8;
    constexpr size_t around = 3; // an empty line, the heading, the keys
    if (sum_.size() > 1 && rows >= out.size() + around + least_high) {
        out.emplace_back();
        out.emplace_back("byte/s of all lanes over time");
        const size_t high = std::min(most_high, rows - out.size() - 1);
        for (std::string& line : plot_lines(sum_, columns, high, unicode_)) out.push_back(std::move(line));
    }
    out.emplace_back("q quit");
    return out;
}

} // namespace zipmpi::tool
