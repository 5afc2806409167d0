// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/select/pair_choice.hpp"

#include "base/problem.hpp"
#include "os/host.hpp"
#include "proto/select/costs_file.hpp"
#include "topo/node_places.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace zipmpi::proto {
namespace {

static_assert(wire::classes_of_pairs == topo::pair_classes);
static_assert(sizeof(Thresholds) == wire::thresholds_per_pair * sizeof(uint64_t));

// One rank per node reads the file and says what is wrong with it.
void compute_thresholds(uint64_t cell_bytes, Thresholds (&all)[topo::pair_classes]) {
    NodeCosts costs;
    if (!load_costs(costs))
        report({"the measured costs are not used", "host " + os::host_name() + ", knob tune.file",
                std::string("the file cannot be read: ") + std::strerror(errno),
                "correct the path, or unset it; `zipmpi tune` makes such a file"});
    for (size_t i = 0; i < topo::pair_classes; ++i) all[i] = thresholds_from(costs.pair[i], cell_bytes);
}

} // namespace

PairChoice::PairChoice(const boot::NodeSegment& segment, uint32_t self)
    : segment_(segment)
    , self_(self)
    , peers_(segment.local_ranks())
    , moves_(segment.facts().moves) {
    for (size_t i = 0; i < topo::pair_classes; ++i)
        thresholds_[i] = settled(thresholds_for(static_cast<PairClass>(i)), segment.geometry().cell_bytes);
}

// False: another rank is about to provide them; what is built in serves meanwhile.
bool PairChoice::take_thresholds() {
    if (thresholds_taken_) return true;
    wire::NodeFacts& facts = segment_.facts();
    Thresholds all[topo::pair_classes];
    uint32_t seen = wire::fact_absent;
    if (facts.thresholds.compare_exchange_strong(seen, wire::fact_in_work, std::memory_order_acq_rel)) {
        compute_thresholds(segment_.geometry().cell_bytes, all);
        std::memcpy(facts.threshold, all, sizeof all);
        facts.thresholds.store(wire::fact_known, std::memory_order_release); // pairs with the exchange above
    } else if (seen != wire::fact_known) {
        return false;
    }
    std::memcpy(all, facts.threshold, sizeof all);
    for (size_t i = 0; i < topo::pair_classes; ++i)
        thresholds_[i] = settled(all[i], segment_.geometry().cell_bytes);
    thresholds_taken_ = true;
    return true;
}

// False: not known yet, ask again. A peer finds its place when it needs one, at the latest; without hwloc
// nobody does, and the class stays the assumed one.
bool PairChoice::find_class(uint32_t peer, PairClass& pair) {
    topo::Place own{}, other{};
    if (!topo::get_place(segment_, self_, own)) {
        if (!topo::look_for_places(segment_, self_)) return false;
        if (!topo::find_own_place(segment_, self_, own)) return true;
    }
    if (!topo::get_place(segment_, peer, other)) {
        topo::look_for_places(segment_, self_);
        if (!topo::get_place(segment_, peer, other)) return false;
    }
    pair = topo::pair_class(own, other);
    return true;
}

const Thresholds& PairChoice::find(uint32_t peer) {
    PairClass pair = topo::assumed_class;
    const bool known = take_thresholds() && find_class(peer, pair);
    const Thresholds& found = of_class(pair);
    if (known) peers_[peer] = &found;
    return found;
}

// Any rank may be the one that was moved, this one included.
const Thresholds& PairChoice::find_anew(uint32_t peer) {
    moves_seen_ = moves_.load(std::memory_order_acquire);
    std::fill(peers_.begin(), peers_.end(), nullptr);
    return find(peer);
}

} // namespace zipmpi::proto
