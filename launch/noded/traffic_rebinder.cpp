// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/traffic_rebinder.hpp"

#include "boot/timeouts.hpp"
#include "mapping/matrix.hpp"
#include "os/clock.hpp"
#include "segment/traffic.hpp"

namespace zipmpi::launch {
namespace {

constexpr uint64_t second = 1'000'000'000;

// A pattern needs two samples.
uint64_t sample_interval() { return static_cast<uint64_t>(boot::rebind_interval_seconds()) * second / 2; }

} // namespace

void TrafficRebinder::start() {
    if (boot::rebind_interval_seconds() == 0 || ranks_.size() < 2) return;
    create_rebinder();
    sampled_at_ = os::now_ns();
    sample_at_ = sampled_at_ + sample_interval();
}

void TrafficRebinder::create_rebinder() {
    rebinder_ = Rebinder(binder_.claim_all_cores(), ranks_.size());
    last_counts_.assign(ranks_.size(), {});
}

void TrafficRebinder::remap() {
    if (!lifecycle_.is_running() || ranks_.size() < 2) return;
    if (last_counts_.empty()) create_rebinder();
    apply(rebinder_.remap(traffic_since_sample()));
}

// Messages between the ranks of this node since the last sample.
mapping::Graph TrafficRebinder::traffic_since_sample() {
    const segment::TrafficReader reader(job_.segment());
    std::map<uint32_t, uint32_t> local;
    for (uint32_t i = 0; i < ranks_.size(); ++i) local[ranks_[i].world_rank] = i;
    std::vector<mapping::Edge> edges;
    for (uint32_t i = 0; i < ranks_.size(); ++i)
        for (const segment::PeerTotals& s : reader.row(i)) {
            const auto to = local.find(static_cast<uint32_t>(s.to));
            if (to == local.end()) continue;
            const double now =
                mapping::weight({i, to->second, s.point_to_point.messages, s.point_to_point.bytes,
                                 s.collective.messages, s.collective.bytes});
            double& before = last_counts_[i][to->second];
            edges.push_back({i, to->second, now - before});
            before = now;
        }
    return {ranks_.size(), std::move(edges)};
}

void TrafficRebinder::sample() {
    const uint64_t now = os::now_ns();
    if (sample_at_ == 0 || now < sample_at_ || !lifecycle_.is_running()) return;
    const Rebinder::RebindDecision d =
        rebinder_.observe(traffic_since_sample(), static_cast<double>(now - sampled_at_) / second);
    sampled_at_ = now;
    sample_at_ = now + sample_interval();
    apply(d);
}

void TrafficRebinder::apply(const Rebinder::RebindDecision& d) {
    if (boot::should_report_rebinding() && !d.reason.empty())
        parent_.report_line("host " + job_.host() + ": " + d.reason);
    if (!d.move) return;
    const std::vector<CpuList> cpus = rebinder_.cpus();
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank)
        if (ranks_[rank].live) binder_.rebind(rank, cpus[rank]);
    binder_.publish_rebinds();
}

} // namespace zipmpi::launch
