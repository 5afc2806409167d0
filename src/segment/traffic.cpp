// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "segment/traffic.hpp"

#include <algorithm>
#include <atomic>

namespace zipmpi::segment {
namespace {

// Entry i of a rank's list, or null at the end of the list.
const wire::PeerTraffic* traffic_row(const NodeSegment& segment, uint32_t local, uint32_t i) {
    const uint32_t rows = segment.block(local).traffic_rows.load(std::memory_order_acquire);
    return i < std::min(rows, segment.geometry().world_ranks()) ? &segment.traffic(local)[i] : nullptr;
}

uint64_t load(const uint64_t& word) {
    return std::atomic_ref(const_cast<uint64_t&>(word)).load(std::memory_order_relaxed);
}

PeerTotals::Totals read(const wire::TrafficCount& count) { return {load(count.messages), load(count.bytes)}; }

} // namespace

std::vector<PeerTotals> TrafficReader::row(uint32_t local) const {
    std::vector<PeerTotals> out;
    for (uint32_t i = 0; const wire::PeerTraffic* t = traffic_row(segment_, local, i); ++i)
        out.push_back({t->peer, read(t->count[wire::PeerTraffic::point_to_point]),
                       read(t->count[wire::PeerTraffic::collective])});
    return out;
}

const wire::PeerTraffic* TrafficReader::find(uint32_t local, int world_rank) const {
    for (uint32_t i = 0; const wire::PeerTraffic* t = traffic_row(segment_, local, i); ++i)
        if (t->peer == world_rank) return t;
    return nullptr;
}

wire::PeerTraffic& TrafficWriter::row_for(int world_rank) {
    const wire::Geometry& g = segment_.geometry();
    const uint64_t offset = g.traffic_offset(local_) + used_ * sizeof(wire::PeerTraffic);
    const bool new_page = offset % wire::page_size == 0;
    const bool of_the_job = world_rank >= 0 && static_cast<uint32_t>(world_rank) < g.world_ranks();
    if (!of_the_job || used_ >= g.world_ranks() || (new_page && !segment_.reserve(offset, wire::page_size)))
        return overflow_row_;
    wire::PeerTraffic& t = segment_.traffic(local_)[used_++];
    t.peer = world_rank;
    segment_.block(local_).traffic_rows.store(used_, std::memory_order_release);
    return t;
}

} // namespace zipmpi::segment
