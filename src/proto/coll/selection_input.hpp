// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the choice of an algorithm depends on. All values are equal on all ranks of the team.
#pragma once

#include "proto/coll/cost.hpp"
#include "proto/coll/hierarchy.hpp"
#include "proto/coll/reduce_op.hpp"

namespace zipmpi::proto::coll {

class Collective;

// What an algorithm needs. Messages are always available.
enum class Resource : uint8_t { messages, coll_buffer, cma };

// Size of a call: of a reduction, or of other data.
struct CallSize {
    size_t bytes = 0;  // of one contribution or block, or of the result on all ranks
    int64_t count = 0; // reductions: elements of a contribution
    size_t element_bytes = 0;
    bool commutative = true;

    explicit CallSize(size_t n)
        : bytes(n) {}
    explicit CallSize(const ReduceOp& op)
        : bytes(op.bytes())
        , count(op.count)
        , element_bytes(op.element_bytes)
        , commutative(op.commutative) {}
};

// The team of a call and what it may use.
struct TeamShape {
    Hierarchy* hierarchy = nullptr; // if the placement is mixed
    TeamPlacement placement = TeamPlacement::single_node;
    Team::TeamScope scope = Team::TeamScope::whole;
    bool reproducible = false; // parameter coll.reproducible
    // Shared memory may be used. Cleared once an algorithm has found that it is not available.
    bool coll_buffer = false;
    bool cma = false;

    TeamShape() = default;
    TeamShape(const Collective& c, Team& t);
};

struct SelectionInput {
    int ranks = 1;
    ScanKind scan = ScanKind::inclusive;
    CallSize size{0};
    TeamShape team;

    [[nodiscard]] bool has(Resource r) const {
        return r == Resource::messages || (r == Resource::cma ? team.cma : team.coll_buffer);
    }
    void remove(Resource r) { (r == Resource::cma ? team.cma : team.coll_buffer) = false; }
    [[nodiscard]] CollShape shape() const { return {ranks, size.bytes}; }
};

// The input for a call on this team.
inline SelectionInput input_of(const Collective& c, Team& t, const CallSize& size,
                               ScanKind scan = ScanKind::inclusive) {
    return {t.size, scan, size, TeamShape(c, t)};
}

// Parameter coll.reproducible.
bool reproducible_reductions();

// --- properties of an input
inline bool always(const SelectionInput& /*in*/) { return true; }
inline bool spans_nodes(const SelectionInput& in) { return in.team.placement != TeamPlacement::single_node; }
inline bool is_hierarchical(const SelectionInput& in) { return in.team.hierarchy != nullptr; }
// The nodes have consecutive ranks.
inline bool is_ordered_hierarchy(const SelectionInput& in) {
    return in.team.hierarchy != nullptr && in.team.hierarchy->nodes.is_contiguous();
}
inline bool spans_clusters(const SelectionInput& in) {
    return in.team.hierarchy != nullptr && in.team.hierarchy->nodes_are_clusters;
}
// A reduction may combine node by node. A reproducible one has one order, independent of placement.
inline bool can_reduce_by_node(const SelectionInput& in) {
    return !in.team.reproducible && (in.size.commutative ? is_hierarchical(in) : is_ordered_hierarchy(in));
}
// One member per cluster: latency dominates, so few messages, and none that depends on another.
inline bool is_intercluster(const SelectionInput& in) {
    return in.team.scope == Team::TeamScope::across_clusters;
}
// No rank forwards data between the root and other ranks.
inline bool is_direct_to_root(const SelectionInput& in) { return is_intercluster(in) || spans_clusters(in); }

inline CostModel cost_model_for(const SelectionInput& in) {
    return spans_nodes(in) ? network_cost_model() : node_cost_model();
}

} // namespace zipmpi::proto::coll
