// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/placement/placement.hpp"

#include "base/stable_sort.hpp"
#include "launch/placement/core_shares.hpp"

#include "mapping/targets.hpp"

#include <algorithm>
#include <map>

namespace zipmpi::launch {
namespace {

using Positions = std::vector<CoreIndices>; // of each rank

// `each` cores from `first` on, wrapping around.
CoreIndices take_cores(const CoreIndices& group, uint64_t first, uint32_t each) {
    CoreIndices cores;
    for (uint64_t i = 0; i < std::min<uint64_t>(each, group.size()); ++i)
        cores.push_back(group[(first + i) % group.size()]);
    std::sort(cores.begin(), cores.end());
    return cores;
}

Positions place_packed(const HostCores& cores, uint32_t ranks, uint32_t each) {
    const CoreIndices all = all_core_indices(cores);
    Positions result;
    for (uint32_t r = 0; r < ranks; ++r) result.push_back(take_cores(all, uint64_t{r} * each, each));
    return result;
}

// Round robin over the units; full units are skipped, and when all are full, they are reused.
Positions place_round_robin(const HostCores& cores, uint32_t ranks, uint32_t each, Unit unit) {
    const std::vector<CoreIndices> groups = group_by_unit(cores.localities, all_core_indices(cores), unit);
    std::vector<size_t> used(groups.size());
    size_t at = 0;
    Positions result;
    for (size_t passed = 0; result.size() < ranks;) {
        if (used[at] + each <= groups[at].size()) {
            result.push_back(take_cores(groups[at], used[at], each));
            used[at] += each;
            passed = 0;
        } else if (++passed > 2 * groups.size()) { // no unit is that large
            return place_packed(cores, ranks, each);
        } else if (passed == groups.size()) {
            std::fill(used.begin(), used.end(), 0);
        }
        at = (at + 1) % groups.size();
    }
    return result;
}

Positions place_per_unit(const HostCores& cores, const PlacementRequest& q, uint32_t each) {
    const std::vector<CoreIndices> groups =
        group_by_unit(cores.localities, all_core_indices(cores), q.policy.map_unit);
    const uint32_t count = std::max(q.policy.per_unit, 1U);
    Positions result;
    for (uint32_t r = 0; r < q.ranks; ++r)
        result.push_back(take_cores(groups[r / count % groups.size()], uint64_t{r % count} * each, each));
    return result;
}

Positions place_spread(const HostCores& cores, uint32_t ranks, uint32_t each) {
    const std::vector<CoreIndices> blocks = core_blocks_for(cores, ranks, each);
    if (blocks.empty()) return place_packed(cores, ranks, each);
    Positions result;
    for (const CoreIndices& share : divide_into_shares(merge_core_blocks(cores, blocks).localities, ranks))
        result.push_back(blocks[share[0]]);
    return result;
}

// Units whose order decides the cores of ranks; hosts and slots do not.
bool is_within_host(Unit unit) { return unit >= Unit::hwthread && unit <= Unit::socket; }

Positions choose_positions(const PlacementRequest& q, const HostCores& cores, uint32_t each) {
    const PlacementPolicy& p = q.policy;
    const bool inside = is_within_host(p.map_unit);
    if (p.strategy == MapStrategy::packed) return place_packed(cores, q.ranks, each);
    if (p.strategy == MapStrategy::round_robin && inside)
        return place_round_robin(cores, q.ranks, each, p.map_unit);
    if (p.strategy == MapStrategy::per_unit && inside) return place_per_unit(cores, q, each);
    return place_spread(cores, q.ranks, each);
}

// All cores of the units that contain these.
CoreIndices widen_to_units(const CoreIndices& own, const std::vector<uint32_t>& units) {
    CoreIndices all;
    for (uint32_t c = 0; c < units.size(); ++c)
        if (std::any_of(own.begin(), own.end(), [&](uint32_t o) { return units[o] == units[c]; }))
            all.push_back(c);
    return all;
}

// Ranks without a requested number of cores may also use the cores left over next to theirs.
bool divides_all_cores(const PlacementRequest& q) {
    const PlacementPolicy& p = q.policy;
    const bool anywhere = p.strategy != MapStrategy::packed && !is_within_host(p.map_unit);
    return anywhere && p.bind_to == Unit::automatic && p.cores_per_rank == 0 && q.threads == 0;
}

std::string count_text(size_t n, const char* thing) {
    return std::to_string(n) + " " + thing + (n == 1 ? "" : "s");
}

bool check_oversubscription(const PlacementRequest& q, size_t cores, uint32_t each, Placement& out,
                            Diagnostic& why) {
    const std::string text = count_text(q.ranks, "rank") + " of " + count_text(each, "core") +
                             " each exceed the " +
                             count_text(std::min<size_t>(cores, q.usable_cores), "core");
    if (!requires_binding(q.policy)) {
        out.reason = "not bound: " + text + " that the job may use here";
        return true;
    }
    if (q.policy.overload_allowed) return true;
    why = {"the ranks cannot be bound", "", text + " of this host that the job may use",
           "start fewer ranks, use more hosts, or allow it: --bind-to " +
               std::string(unit_name(q.policy.bind_to)) + ":overload-allowed"};
    return false;
}

bool place_by_rank_file(const PlacementRequest& q, const HostCores& cores, Placement& out, Diagnostic& why) {
    out.reason = "by the rank file";
    for (uint32_t r = 0; r < q.ranks; ++r) {
        if (q.slots[r].empty()) continue;
        CoreIndices which;
        std::string wrong;
        if (!parse_slots(q.slots[r], cores, which, wrong)) {
            why = {"the rank file does not fit this host", "slot=" + q.slots[r],
                   "'" + wrong + "' has no cores of this host, which has " +
                       count_text(cores.size(), "core") + " on " +
                       count_text(count_units(cores, Unit::socket), "socket"),
                   "number cores from 0 as `zipmpi map` shows them: slot=0-1, or slot=SOCKET:CORES"};
            return false;
        }
        out.rank_cpus[r].own = out.rank_cpus[r].cpus = cpus_of(cores, which);
    }
    return true;
}

// Cores, or hardware threads if requested or if ranks fit only on those.
bool uses_hwthreads(const PlacementRequest& q, const HostCores& cores, uint32_t each) {
    return q.policy.map_unit == Unit::hwthread ||
           (q.policy.bind_to == Unit::hwthread && uint64_t{q.ranks} * each > cores.size());
}

void assign_positions(const PlacementRequest& q, const HostCores& cores, const Positions& at,
                      Placement& out) {
    const Unit to = q.policy.bind_to;
    const std::vector<uint32_t> units =
        unit_indices(cores.localities, to == Unit::automatic ? Unit::core : to);
    for (uint32_t r = 0; r < q.ranks; ++r) {
        RankCpus& s = out.rank_cpus[r];
        s.own = s.cpus = cpus_of(cores, at[r]);
        if (to == Unit::hwthread) {
            s.own.clear();
            for (const uint32_t c : at[r]) s.own.push_back(cores.cpus[c][0]);
            s.cpus = s.own;
        } else if (to != Unit::automatic && to != Unit::slot) {
            s.cpus = cpus_of(cores, widen_to_units(at[r], units));
        }
    }
}

void reorder_ranks(const PlacementRequest& q, const HostCores& cores, Positions& at) {
    if (q.policy.rank_by == Unit::automatic || !is_within_host(q.policy.rank_by)) return;
    const CoreIndices order = rank_order(merge_core_blocks(cores, at).localities, q.policy.rank_by);
    Positions ranked;
    for (const uint32_t i : order) ranked.push_back(std::move(at[i]));
    at = std::move(ranked);
}

} // namespace

uint32_t cores_for_rank(const PlacementRequest& q) {
    return q.policy.cores_per_rank != 0 ? q.policy.cores_per_rank : std::max(q.threads, 1U);
}

bool requires_binding(const PlacementPolicy& policy) {
    return policy.bind_to != Unit::automatic && policy.bind_to != Unit::none;
}

bool should_bind(const PlacementRequest& q) {
    if (q.policy.bind_to == Unit::none) return false;
    return requires_binding(q.policy) || !q.slots.empty() ||
           uint64_t{q.ranks} * cores_for_rank(q) <= q.usable_cores;
}

CoreIndices rank_order(const std::vector<hwtopo::Locality>& localities, Unit rank_by) {
    CoreIndices order = mapping::compact_order(localities);
    if (rank_by < Unit::l2cache || rank_by > Unit::socket) return order;
    const std::vector<uint32_t> units = unit_indices(localities, rank_by);
    std::map<uint32_t, uint32_t> seen;
    std::vector<std::pair<uint32_t, uint32_t>> turns; // position within its unit, and index of the rank
    for (const uint32_t i : order) turns.emplace_back(seen[units[i]]++, i);
    stable_sort(turns, [](const auto& a, const auto& b) { return a.first < b.first; });
    std::ranges::transform(turns, order.begin(), [](const auto& t) { return t.second; });
    return order;
}

bool assign_cpus(const PlacementRequest& q, const HostCores& all, Placement& out, Diagnostic& why) {
    out = {std::vector<RankCpus>(q.ranks), {}};
    const uint32_t each = cores_for_rank(q);
    if (q.policy.bind_to == Unit::none) out.reason = "not bound: as requested";
    if (q.policy.bind_to == Unit::none || all.empty()) return true;
    if (!q.slots.empty()) return place_by_rank_file(q, all, out, why);
    const HostCores cores = uses_hwthreads(q, all, each) ? hwthreads_of(all) : all;
    const uint64_t wanted = uint64_t{q.ranks} * each;
    const bool fits = wanted <= cores.size() && (requires_binding(q.policy) || wanted <= q.usable_cores);
    if (!fits && (!check_oversubscription(q, cores.size(), each, out, why) || !out.reason.empty()))
        return why.what.empty();
    if (fits && divides_all_cores(q)) {
        const std::vector<CoreIndices> shares = divide_into_shares(cores.localities, q.ranks);
        for (uint32_t r = 0; r < q.ranks; ++r)
            out.rank_cpus[r] = {cpus_of(cores, shares[r]), cpus_of(cores, {shares[r][0]})};
        out.reason = "its share of " + count_text(cores.size(), "core");
        return true;
    }
    Positions at = choose_positions(q, cores, each);
    reorder_ranks(q, cores, at);
    assign_positions(q, cores, at, out);
    out.reason = fits ? count_text(each, "core") + (requires_binding(q.policy) ? " as requested" : "")
                      : "as requested, more ranks than cores";
    return true;
}

} // namespace zipmpi::launch
