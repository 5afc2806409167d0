// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/map/placement.hpp"

#include "base/stable_sort.hpp"
#include "launch/map/share.hpp"

#include "mapping/targets.hpp"

#include <algorithm>
#include <map>

namespace zipmpi::launch {
namespace {

using Positions = std::vector<CoreNumbers>; // of each rank

// `each` cores from `first` on, around the end.
CoreNumbers around(const CoreNumbers& group, uint64_t first, uint32_t each) {
    CoreNumbers cores;
    for (uint64_t i = 0; i < std::min<uint64_t>(each, group.size()); ++i)
        cores.push_back(group[(first + i) % group.size()]);
    std::sort(cores.begin(), cores.end());
    return cores;
}

Positions one_after_the_other(const HostCores& cores, uint32_t ranks, uint32_t each) {
    const CoreNumbers all = all_of(cores);
    Positions result;
    for (uint32_t r = 0; r < ranks; ++r) result.push_back(around(all, uint64_t{r} * each, each));
    return result;
}

// The units in turn; one that is full is passed over, and when all are, they begin anew.
Positions in_turn(const HostCores& cores, uint32_t ranks, uint32_t each, Unit unit) {
    const std::vector<CoreNumbers> groups = groups_of(cores.places, all_of(cores), unit);
    std::vector<size_t> used(groups.size());
    size_t at = 0;
    Positions result;
    for (size_t passed = 0; result.size() < ranks;) {
        if (used[at] + each <= groups[at].size()) {
            result.push_back(around(groups[at], used[at], each));
            used[at] += each;
            passed = 0;
        } else if (++passed > 2 * groups.size()) { // no unit is so large
            return one_after_the_other(cores, ranks, each);
        } else if (passed == groups.size()) {
            std::fill(used.begin(), used.end(), 0);
        }
        at = (at + 1) % groups.size();
    }
    return result;
}

Positions on_each(const HostCores& cores, const PlacementRequest& q, uint32_t each) {
    const std::vector<CoreNumbers> groups = groups_of(cores.places, all_of(cores), q.policy.map_unit);
    const uint32_t count = std::max(q.policy.per_unit, 1U);
    Positions result;
    for (uint32_t r = 0; r < q.ranks; ++r)
        result.push_back(around(groups[r / count % groups.size()], uint64_t{r % count} * each, each));
    return result;
}

Positions far_apart(const HostCores& cores, uint32_t ranks, uint32_t each) {
    const std::vector<CoreNumbers> bundles = bundles_for(cores, ranks, each);
    if (bundles.empty()) return one_after_the_other(cores, ranks, each);
    Positions result;
    for (const CoreNumbers& share : shares_of(bundles_of(cores, bundles).places, ranks))
        result.push_back(bundles[share[0]]);
    return result;
}

// Units whose order says where ranks go; hosts and slots say nothing about a host's inside.
bool within_host(Unit unit) { return unit >= Unit::hwthread && unit <= Unit::socket; }

Positions positions_of(const PlacementRequest& q, const HostCores& cores, uint32_t each) {
    const PlacementPolicy& p = q.policy;
    const bool inside = within_host(p.map_unit);
    if (p.strategy == MapStrategy::packed) return one_after_the_other(cores, q.ranks, each);
    if (p.strategy == MapStrategy::round_robin && inside) return in_turn(cores, q.ranks, each, p.map_unit);
    if (p.strategy == MapStrategy::per_unit && inside) return on_each(cores, q, each);
    return far_apart(cores, q.ranks, each);
}

// All cores of the units that these are in.
CoreNumbers widened(const CoreNumbers& own, const std::vector<uint32_t>& units) {
    CoreNumbers all;
    for (uint32_t c = 0; c < units.size(); ++c)
        if (std::any_of(own.begin(), own.end(), [&](uint32_t o) { return units[o] == units[c]; }))
            all.push_back(c);
    return all;
}

// Ranks that were asked nothing of have what is left over around their cores, too.
bool shares_all(const PlacementRequest& q) {
    const PlacementPolicy& p = q.policy;
    const bool anywhere = p.strategy != MapStrategy::packed && !within_host(p.map_unit);
    return anywhere && p.bind_to == Unit::automatic && p.cores_per_rank == 0 && q.threads == 0;
}

std::string plural(size_t n, const char* thing) {
    return std::to_string(n) + " " + thing + (n == 1 ? "" : "s");
}

bool too_many(const PlacementRequest& q, size_t cores, uint32_t each, Placement& out, Problem& why) {
    const std::string said = plural(q.ranks, "rank") + " of " + plural(each, "core") +
                             " each are more than the " +
                             plural(std::min<size_t>(cores, q.usable_cores), "core");
    if (!insists(q.policy)) {
        out.why = "not bound: " + said + " that the job may use here";
        return true;
    }
    if (q.policy.overload_allowed) return true;
    why = {"the ranks cannot be bound", "", said + " of this host that the job may use",
           "start fewer, use more hosts, or allow it: --bind-to " + std::string(name(q.policy.bind_to)) +
               ":overload-allowed"};
    return false;
}

bool place_by_file(const PlacementRequest& q, const HostCores& cores, Placement& out, Problem& why) {
    out.why = "as the rank file says";
    for (uint32_t r = 0; r < q.ranks; ++r) {
        if (q.slots[r].empty()) continue;
        CoreNumbers which;
        std::string wrong;
        if (!parse_slots(q.slots[r], cores, which, wrong)) {
            why = {"the rank file cannot be followed", "slot=" + q.slots[r],
                   "'" + wrong + "' names no cores of this host, which has " + plural(cores.size(), "core") +
                       " on " + plural(count_units(cores, Unit::socket), "socket"),
                   "number cores from 0 as `zipmpi map` shows them: slot=0-1, or slot=SOCKET:CORES"};
            return false;
        }
        out.seats[r].own = out.seats[r].cpus = cpus_of(cores, which);
    }
    return true;
}

// Cores, or hardware threads where the user wants those, or where ranks fit only on those.
bool by_threads(const PlacementRequest& q, const HostCores& cores, uint32_t each) {
    return q.policy.map_unit == Unit::hwthread ||
           (q.policy.bind_to == Unit::hwthread && uint64_t{q.ranks} * each > cores.size());
}

void seat(const PlacementRequest& q, const HostCores& cores, const Positions& at, Placement& out) {
    const Unit to = q.policy.bind_to;
    const std::vector<uint32_t> units = units_of(cores.places, to == Unit::automatic ? Unit::core : to);
    for (uint32_t r = 0; r < q.ranks; ++r) {
        Seat& s = out.seats[r];
        s.own = s.cpus = cpus_of(cores, at[r]);
        if (to == Unit::hwthread) {
            s.own.clear();
            for (const uint32_t c : at[r]) s.own.push_back(cores.cpus[c][0]);
            s.cpus = s.own;
        } else if (to != Unit::automatic && to != Unit::slot) {
            s.cpus = cpus_of(cores, widened(at[r], units));
        }
    }
}

void rank_in_order(const PlacementRequest& q, const HostCores& cores, Positions& at) {
    if (q.policy.rank_by == Unit::automatic || !within_host(q.policy.rank_by)) return;
    const CoreNumbers order = ranking(bundles_of(cores, at).places, q.policy.rank_by);
    Positions ranked;
    for (const uint32_t i : order) ranked.push_back(std::move(at[i]));
    at = std::move(ranked);
}

} // namespace

uint32_t cores_each(const PlacementRequest& q) {
    return q.policy.cores_per_rank != 0 ? q.policy.cores_per_rank : std::max(q.threads, 1U);
}

bool insists(const PlacementPolicy& policy) {
    return policy.bind_to != Unit::automatic && policy.bind_to != Unit::none;
}

bool wants_binding(const PlacementRequest& q) {
    if (q.policy.bind_to == Unit::none) return false;
    return insists(q.policy) || !q.slots.empty() || uint64_t{q.ranks} * cores_each(q) <= q.usable_cores;
}

CoreNumbers ranking(const std::vector<topo::Place>& places, Unit rank_by) {
    CoreNumbers order = mapping::compact_order(places);
    if (rank_by < Unit::l2cache || rank_by > Unit::socket) return order;
    const std::vector<uint32_t> units = units_of(places, rank_by);
    std::map<uint32_t, uint32_t> seen;
    std::vector<std::pair<uint32_t, uint32_t>> turns; // position within its unit, and who
    for (const uint32_t i : order) turns.emplace_back(seen[units[i]]++, i);
    stable_sort(turns, [](const auto& a, const auto& b) { return a.first < b.first; });
    std::ranges::transform(turns, order.begin(), [](const auto& t) { return t.second; });
    return order;
}

bool place(const PlacementRequest& q, const HostCores& all, Placement& out, Problem& why) {
    out = {std::vector<Seat>(q.ranks), {}};
    const uint32_t each = cores_each(q);
    if (q.policy.bind_to == Unit::none) out.why = "not bound: as asked";
    if (q.policy.bind_to == Unit::none || all.empty()) return true;
    if (!q.slots.empty()) return place_by_file(q, all, out, why);
    const HostCores cores = by_threads(q, all, each) ? hwthreads_of(all) : all;
    const uint64_t wanted = uint64_t{q.ranks} * each;
    const bool fits = wanted <= cores.size() && (insists(q.policy) || wanted <= q.usable_cores);
    if (!fits && (!too_many(q, cores.size(), each, out, why) || !out.why.empty())) return why.what.empty();
    if (fits && shares_all(q)) {
        const std::vector<CoreNumbers> shares = shares_of(cores.places, q.ranks);
        for (uint32_t r = 0; r < q.ranks; ++r)
            out.seats[r] = {cpus_of(cores, shares[r]), cpus_of(cores, {shares[r][0]})};
        out.why = "its share of " + plural(cores.size(), "core");
        return true;
    }
    Positions at = positions_of(q, cores, each);
    rank_in_order(q, cores, at);
    seat(q, cores, at, out);
    out.why = fits ? plural(each, "core") + (insists(q.policy) ? " as asked" : "")
                   : "as asked, more ranks than cores";
    return true;
}

} // namespace zipmpi::launch
