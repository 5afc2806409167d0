// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "top/gateway_view.hpp"

#include "os/clock.hpp"
#include "top/plots.hpp"
#include "top/rank_table.hpp"

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

bool is_running(pid_t pid) { return kill(pid, 0) == 0 || errno == EPERM; }

} // namespace

GatewayView::GatewayView(const TopOptions& options)
    : unicode_(terminal_has_unicode()) {
    for (SharedFile& file : find_shared_files(gateway::stats_file_name)) {
        const auto& who = file.holders;
        if (options.pid != 0 && !any_descends_from(who, options.pid)) continue;
        struct stat st {};
        if (fstat(file.fd.get(), &st) != 0 || static_cast<size_t>(st.st_size) < sizeof(gateway::GatewayStats))
            continue;
        GatewaySample g{who.front(),
                        os::Mapping(file.fd.get(), sizeof(gateway::GatewayStats), os::Access::read_only),
                        {},
                        0,
                        0};
        if (!g.map || g.stats().magic != gateway::stats_magic) continue;
        if (std::string(g.stats().job_id).find(options.job) == std::string::npos) continue;
        for (const auto& port : g.stats().networks)
            if (port.name[0] != '\0') g.ports.push_back({&port, 0, 0, 0, {}});
        for (const auto& port : g.stats().links)
            if (port.name[0] != '\0') g.ports.push_back({&port, 0, 0, 0, {}});
        gateways_.push_back(std::move(g));
    }
    std::ranges::sort(gateways_, {}, [](const GatewaySample& g) {
        return std::pair(std::string_view(g.stats().job_id), g.stats().number);
    });
    sample();
    total_bytes_.clear(); // no previous sample to compare with
    for (GatewaySample& g : gateways_)
        for (PortRate& port : g.ports) port.bytes.clear();
}

double GatewayView::update(PortRate& port, double seconds) {
    const uint64_t frames = port.counters->frames.load(relaxed);
    const uint64_t bytes = port.counters->bytes.load(relaxed);
    port.frames = static_cast<double>(frames - std::exchange(port.frames_before, frames)) / seconds;
    port.bytes.push_back(static_cast<double>(bytes - std::exchange(port.bytes_before, bytes)) / seconds);
    if (port.bytes.size() > kept) port.bytes.pop_front();
    return port.bytes.back();
}

bool GatewayView::sample() {
    const uint64_t now = os::now_ns();
    const double seconds = std::max(1e-6, static_cast<double>(now - std::exchange(before_ns_, now)) / 1e9);
    double sum = 0;
    for (GatewaySample& g : gateways_) {
        const uint64_t messages = g.stats().totals.messages.load(relaxed);
        g.messages = static_cast<double>(messages - std::exchange(g.messages_before, messages)) / seconds;
        for (PortRate& port : g.ports) sum += update(port, seconds);
    }
    total_bytes_.push_back(sum);
    if (total_bytes_.size() > kept) total_bytes_.pop_front();
    return std::any_of(gateways_.begin(), gateways_.end(),
                       [](const GatewaySample& g) { return is_running(g.pid); });
}

std::string GatewayView::line_of(const PortRate& port, size_t columns) const {
    std::string text =
        fmt::format("  {:<20.20} {:>8} {:>8} {:>7} {:>7}  ", port.counters->name, rate_text(port.frames),
                    rate_text(port.bytes.empty() ? 0 : port.bytes.back()),
                    port.counters->queued.load(relaxed), port.counters->dropped.load(relaxed));
    if (port.bytes.size() > 1 && columns > text.size())
        text += plot_line(port.bytes, columns - text.size(), unicode_);
    return text;
}

std::string GatewayView::line_of(const GatewaySample& g) {
    const gateway::GatewayCounters& all = g.stats().totals;
    std::string text = fmt::format("gateway {}, pid {}: {} msg/s ({} total), {} KiB buffered",
                                   g.stats().number, g.pid, rate_text(g.messages), all.messages.load(relaxed),
                                   all.buffered_bytes.load(relaxed) / 1024);
    if (!is_running(g.pid)) text += ", EXITED";
    if (const uint64_t n = all.dropped.load(relaxed); n > 0) text += fmt::format(", {} dropped", n);
    if (const uint64_t n = all.rejected.load(relaxed); n > 0) text += fmt::format(", {} rejected", n);
    return text;
}

std::vector<std::string> GatewayView::lines(size_t rows, size_t columns, size_t& bright) {
    std::vector<std::string> out{fmt::format("{:<22} {:>8} {:>8} {:>7} {:>7}  {}", "port", "frame/s",
                                             "byte/s", "queued", "lost", "byte/s over time")};
    bright = 0;
    std::string job;
    for (const GatewaySample& g : gateways_) {
        if (const std::string of = g.stats().job_id; of != job) out.push_back("job " + (job = of));
        out.push_back(line_of(g));
        for (const PortRate& port : g.ports) out.push_back(line_of(port, columns));
    }
    constexpr size_t least_high = 3;
    constexpr size_t most_high = 8;
    constexpr size_t around = 3; // an empty line, the heading, the keys
    if (total_bytes_.size() > 1 && rows >= out.size() + around + least_high) {
        out.emplace_back();
        out.emplace_back("byte/s of all ports over time");
        const size_t high = std::min(most_high, rows - out.size() - 1);
        for (std::string& line : plot_lines(total_bytes_, columns, high, unicode_))
            out.push_back(std::move(line));
    }
    out.emplace_back("q quit");
    return out;
}

} // namespace zipmpi::tool
