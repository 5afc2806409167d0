// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The live mapper at work: counts, decides (launch/map/live.hpp), moves.
#include "launch/map/live.hpp"
#include "launch/noded/daemon.hpp"

#include "boot/limits.hpp"
#include "boot/traffic.hpp"
#include "mapping/matrix.hpp"
#include "os/clock.hpp"
#include "topo/node_places.hpp"

#include <map>

namespace zipmpi::launch {
namespace {

constexpr uint64_t second = 1'000'000'000;

// Two looks are needed to know a pattern.
uint64_t time_of_a_look() { return static_cast<uint64_t>(boot::live_map_seconds()) * second / 2; }

} // namespace

void Daemon::start_live_map() {
    if (boot::live_map_seconds() == 0 || ranks_.size() < 2) return;
    live_map_ = LiveMap(placement_.own_cores(), static_cast<uint32_t>(ranks_.size()));
    counted_before_.assign(ranks_.size(), {});
    looked_at_ = os::now_ns();
    look_at_ = looked_at_ + time_of_a_look();
}

// What the ranks of this node have sent to each other since the last time.
mapping::Graph Daemon::sent_since() {
    const boot::TrafficReader reader(segment_);
    std::map<uint32_t, uint32_t> local;
    for (uint32_t i = 0; i < ranks_.size(); ++i) local[ranks_[i].world] = i;
    std::vector<mapping::Edge> edges;
    for (uint32_t i = 0; i < ranks_.size(); ++i)
        for (const boot::Sent& s : reader.row(i)) {
            const auto to = local.find(static_cast<uint32_t>(s.to));
            if (to == local.end()) continue;
            const double now =
                mapping::weight({i, to->second, s.point_to_point.messages, s.point_to_point.bytes,
                                 s.collective.messages, s.collective.bytes});
            double& before = counted_before_[i][to->second];
            edges.push_back({i, to->second, now - before});
            before = now;
        }
    return {static_cast<uint32_t>(ranks_.size()), std::move(edges)};
}

void Daemon::look_at_talk() {
    const uint64_t now = os::now_ns();
    if (look_at_ == 0 || now < look_at_ || phase_ != Phase::running) return;
    const LiveMap::Decision d = live_map_.look(sent_since(), static_cast<double>(now - looked_at_) / second);
    looked_at_ = now;
    look_at_ = now + time_of_a_look();
    if (boot::live_map_reports() && !d.why.empty()) say("host " + host_ + ": " + d.why);
    if (!d.move) return;
    const std::vector<CpuList> cpus = live_map_.cpus();
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank)
        if (ranks_[rank].live) move_rank(rank, cpus[rank]);
    topo::announce_moves(segment_);
}

} // namespace zipmpi::launch
