// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/select/peer_thresholds.hpp"

#include "base/diagnostic.hpp"
#include "hwtopo/node_locality.hpp"
#include "os/host.hpp"
#include "proto/select/costs_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace zipmpi::proto {
namespace {

static_assert(wire::pair_class_count == hwtopo::pair_classes);
static_assert(sizeof(Thresholds) == wire::thresholds_per_pair * sizeof(uint64_t));

// Executed by one rank per node, which also reports errors of the file.
void compute_thresholds(uint64_t cell_bytes, Thresholds (&all)[hwtopo::pair_classes]) {
    NodeCosts costs;
    if (!load_costs(costs))
        report({"measured costs are not used", "host " + os::host_name() + ", parameter tune.file",
                std::string("the file cannot be read: ") + std::strerror(errno),
                "correct or unset the path; `zipmpi tune` writes a cost file"});
    for (size_t i = 0; i < hwtopo::pair_classes; ++i) all[i] = thresholds_from(costs.pair[i], cell_bytes);
}

} // namespace

PeerThresholds::PeerThresholds(const segment::NodeSegment& segment, uint32_t self)
    : segment_(segment)
    , self_(self)
    , peers_(segment.local_ranks())
    , moves_(segment.node_info().shared().rebinds) {
    for (size_t i = 0; i < hwtopo::pair_classes; ++i)
        thresholds_[i] =
            apply_overrides(thresholds_for(static_cast<PairClass>(i)), segment.geometry().cell_bytes);
}

// Returns false while another rank computes them; the built-in thresholds apply meanwhile.
bool PeerThresholds::load_thresholds() {
    if (thresholds_loaded_) return true;
    wire::NodeInfo& info = segment_.node_info().shared();
    Thresholds all[hwtopo::pair_classes];
    uint32_t seen = wire::info_absent;
    if (info.thresholds.compare_exchange_strong(seen, wire::info_in_progress, std::memory_order_acq_rel)) {
        compute_thresholds(segment_.geometry().cell_bytes, all);
        std::memcpy(info.threshold, all, sizeof all);
        info.thresholds.store(wire::info_known, std::memory_order_release); // pairs with the exchange above
    } else if (seen != wire::info_known) {
        return false;
    }
    std::memcpy(all, info.threshold, sizeof all);
    for (size_t i = 0; i < hwtopo::pair_classes; ++i)
        thresholds_[i] = apply_overrides(all[i], segment_.geometry().cell_bytes);
    thresholds_loaded_ = true;
    return true;
}

// Returns false if the class is not known yet; the caller retries later. A peer publishes its locality at the
// latest when it needs one itself. Without hwloc no rank does, and the assumed class is kept.
bool PeerThresholds::find_class(uint32_t peer, PairClass& pair) {
    hwtopo::Locality own{}, other{};
    if (!hwtopo::get_locality(segment_, self_, own)) {
        if (!hwtopo::discover_localities(segment_, self_)) return false;
        if (!hwtopo::own_locality(segment_, self_, own)) return true;
    }
    if (!hwtopo::get_locality(segment_, peer, other)) {
        hwtopo::discover_localities(segment_, self_);
        if (!hwtopo::get_locality(segment_, peer, other)) return false;
    }
    pair = hwtopo::pair_class(own, other);
    return true;
}

const Thresholds& PeerThresholds::find(uint32_t peer) {
    PairClass pair = hwtopo::assumed_class;
    const bool known = load_thresholds() && find_class(peer, pair);
    const Thresholds& found = of_class(pair);
    if (known) peers_[peer] = &found;
    return found;
}

// Any rank may have been rebound, including this one.
const Thresholds& PeerThresholds::refresh(uint32_t peer) {
    moves_seen_ = moves_.load(std::memory_order_acquire);
    peers_.clear();
    return find(peer);
}

} // namespace zipmpi::proto
