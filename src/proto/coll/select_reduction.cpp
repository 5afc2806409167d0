// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Algorithms of the barrier and of reductions.
#include "proto/coll/algorithms.hpp"
#include "proto/coll/hierarchical/hierarchical.hpp"
#include "proto/coll/select.hpp"
#include "proto/coll/shm/shm.hpp"

#include <algorithm>

namespace zipmpi::proto::coll {
namespace {

using enum Resource;

struct BarrierArgs {};
struct ReduceArgs {
    const void* input;
    void* result;
    int root; // of reduce
};
struct ReduceScatterArgs {
    const void* input;
    void* result;
    std::span<const int64_t> counts;
};

bool is_reproducible(const SelectionInput& in) { return in.team.reproducible; }
// Every rank can reduce a share of the vector.
bool can_split(const SelectionInput& in) { return in.ranks > 1 && in.size.count >= in.ranks; }

template <void (*message_steps)(Schedule&, Team&, const void*, void*)>
bool add_steps(Collective& c, Team& t, const SelectionInput& /*in*/, const ReduceArgs& a) {
    message_steps(c.schedule(), t, a.input, a.result);
    return true;
}

template <void (*message_steps)(Schedule&, Team&, const void*, void*, int)>
bool add_rooted_steps(Collective& c, Team& t, const SelectionInput& /*in*/, const ReduceArgs& a) {
    message_steps(c.schedule(), t, a.input, a.result, a.root);
    c.schedule().wait();
    return true;
}

template <void (*message_steps)(Schedule&, Team&, const void*, void*, ScanKind)>
bool add_scan_steps(Collective& c, Team& t, const SelectionInput& in, const ReduceArgs& a) {
    message_steps(c.schedule(), t, a.input, a.result, in.scan);
    return true;
}

constexpr Algorithm<BarrierArgs> barrier_table[] = {
    {"shm", coll_buffer, always, nullptr,
     [](Collective& c, Team& t, const SelectionInput&, const BarrierArgs&) { return shm::barrier(c, t); }},
    {"hierarchical", messages, is_hierarchical, nullptr,
     [](Collective& c, Team& t, const SelectionInput& in, const BarrierArgs&) {
         hierarchical::barrier(c, t, *in.team.hierarchy);
         return true;
     }},
    {"intercluster", messages, is_intercluster, nullptr,
     [](Collective& c, Team& t, const SelectionInput&, const BarrierArgs&) {
         intercluster::barrier(c.schedule(), t);
         return true;
     }},
    {"dissemination", messages, always, nullptr,
     [](Collective& c, Team& t, const SelectionInput&, const BarrierArgs&) {
         barrier_dissemination::build(c.schedule(), t);
         return true;
     }},
};

constexpr Algorithm<ReduceArgs> reduce_table[] = {
    {"cma", cma, shm::can_cma_reduce, nullptr,
     [](Collective& c, Team& t, const SelectionInput&, const ReduceArgs& a) {
         return shm::cma_reduce(c, t, a.input, a.result, a.root);
     }},
    {"shm", coll_buffer, shm::can_reduce, nullptr,
     [](Collective& c, Team& t, const SelectionInput&, const ReduceArgs& a) {
         return shm::reduce(c, t, a.input, a.result, a.root);
     }},
    {"hierarchical", messages, can_reduce_by_node, nullptr,
     [](Collective& c, Team& t, const SelectionInput& in, const ReduceArgs& a) {
         hierarchical::reduce(c, t, *in.team.hierarchy, a.input, a.result, a.root);
         return true;
     }},
    {"intercluster", messages, is_intercluster, nullptr,
     [](Collective& c, Team& t, const SelectionInput&, const ReduceArgs& a) {
         intercluster::reduce(c.schedule(), t, a.input, a.result, a.root);
         return true;
     }},
    {"ordered", messages, is_reproducible, nullptr, add_rooted_steps<reduce_ordered::build>},
    {"binomial", messages, always, nullptr, add_rooted_steps<reduce_binomial::build>},
};

constexpr Algorithm<ReduceArgs> allreduce_table[] = {
    {"cma", cma, shm::can_cma_allreduce, nullptr,
     [](Collective& c, Team& t, const SelectionInput&, const ReduceArgs& a) {
         return shm::cma_reduce(c, t, a.input, a.result, -1);
     }},
    {"shm", coll_buffer, shm::can_reduce, nullptr,
     [](Collective& c, Team& t, const SelectionInput&, const ReduceArgs& a) {
         return shm::allreduce(c, t, a.input, a.result);
     }},
    {"ordered_broadcast", messages, is_reproducible, nullptr,
     [](Collective& c, Team& t, const SelectionInput&, const ReduceArgs& a) {
         Schedule& s = c.schedule();
         reduce_ordered::build(s, t, a.input, a.result, 0);
         s.wait();
         broadcast(c, t, a.result, s.op().bytes(), 0);
         return true;
     }},
    {"multi_leader", messages,
     [](const SelectionInput& in) {
         return can_reduce_by_node(in) && !in.team.hierarchy->nodes_are_clusters &&
                hierarchical::prefer_multi_leader(*in.team.hierarchy, in.size.count, in.size.bytes);
     },
     nullptr,
     [](Collective& c, Team& t, const SelectionInput& in, const ReduceArgs& a) {
         hierarchical::allreduce_multi_leader(c, t, *in.team.hierarchy, a.input, a.result);
         return true;
     }},
    {"hierarchical", messages, can_reduce_by_node, nullptr,
     [](Collective& c, Team& t, const SelectionInput& in, const ReduceArgs& a) {
         hierarchical::allreduce(c, t, *in.team.hierarchy, a.input, a.result);
         return true;
     }},
    {"intercluster", messages, is_intercluster, nullptr, add_steps<intercluster::allreduce>},
    {"doubling", messages, always, allreduce_doubling::cost, add_steps<allreduce_doubling::build>},
    {"rabenseifner", messages, [](const SelectionInput& in) { return can_split(in) && spans_nodes(in); },
     allreduce_rabenseifner::cost, add_steps<allreduce_rabenseifner::build>},
    {"ring", messages, [](const SelectionInput& in) { return can_split(in) && in.size.commutative; },
     allreduce_ring::cost, add_steps<allreduce_ring::build>},
};

constexpr Algorithm<ReduceArgs> scan_table[] = {
    {"shm", coll_buffer, shm::can_scan, nullptr,
     [](Collective& c, Team& t, const SelectionInput& in, const ReduceArgs& a) {
         return shm::scan(c, t, a.input, a.result, in.scan);
     }},
    {"chain", messages, is_reproducible, nullptr, add_scan_steps<scan_chain::build>},
    {"hierarchical", messages, is_ordered_hierarchy, nullptr,
     [](Collective& c, Team& t, const SelectionInput& in, const ReduceArgs& a) {
         hierarchical::scan(c, t, *in.team.hierarchy, a.input, a.result, in.scan);
         return true;
     }},
    {"intercluster", messages,
     [](const SelectionInput& in) { return in.scan == ScanKind::exclusive && is_intercluster(in); }, nullptr,
     add_steps<intercluster::exscan>},
    {"doubling", messages, always, nullptr, add_scan_steps<scan_doubling::build>},
};

constexpr Algorithm<ReduceScatterArgs> reduce_scatter_table[] = {
    {"shm", coll_buffer, shm::can_reduce_scatter, nullptr,
     [](Collective& c, Team& t, const SelectionInput&, const ReduceScatterArgs& a) {
         return shm::reduce_scatter(c, t, a.input, a.result, a.counts);
     }},
    {"hierarchical", messages,
     [](const SelectionInput& in) {
         return can_reduce_by_node(in) &&
                (in.team.hierarchy->nodes_are_clusters || in.team.hierarchy->nodes.is_contiguous());
     },
     nullptr,
     [](Collective& c, Team& t, const SelectionInput& in, const ReduceScatterArgs& a) {
         hierarchical::reduce_scatter(c, t, *in.team.hierarchy, a.input, a.result, a.counts);
         return true;
     }},
    {"direct", messages, always, nullptr,
     [](Collective& c, Team& t, const SelectionInput&, const ReduceScatterArgs& a) {
         reduce_scatter_direct::build(c.schedule(), t, a.input, a.result, a.counts);
         return true;
     }},
};

void build_scan(Collective& c, Team& t, const ReduceArgs& args, ScanKind kind) {
    const ReduceOp& op = c.schedule().op();
    if (op.bytes() == 0) return;
    build_selected<scan_table>(c, t, input_of(c, t, CallSize(op), kind), args);
}

} // namespace

void barrier(Collective& c, Team& t) {
    if (t.size == 1) return;
    build_selected<barrier_table>(c, t, input_of(c, t, CallSize(0)), BarrierArgs{});
}

void reduce(Collective& c, Team& t, const void* input, void* result, int root) {
    const ReduceOp& op = c.schedule().op();
    if (op.bytes() == 0) return;
    build_selected<reduce_table>(c, t, input_of(c, t, CallSize(op)), ReduceArgs{input, result, root});
}

void reduce_by_messages(Schedule& s, Team& t, const void* input, void* result, int root) {
    if (reproducible_reductions())
        reduce_ordered::build(s, t, input, result, root);
    else
        reduce_binomial::build(s, t, input, result, root);
    s.wait();
}

void allreduce(Collective& c, Team& t, const void* input, void* result) {
    const ReduceOp& op = c.schedule().op();
    if (op.bytes() == 0) return;
    build_selected<allreduce_table>(c, t, input_of(c, t, CallSize(op)), ReduceArgs{input, result, -1});
}

void scan(Collective& c, Team& t, const void* input, void* result) {
    build_scan(c, t, {input, result, -1}, ScanKind::inclusive);
}

void exscan(Collective& c, Team& t, const void* input, void* result) {
    build_scan(c, t, {input, result, -1}, ScanKind::exclusive);
}

void reduce_scatter(Collective& c, Team& t, const void* input, void* result,
                    std::span<const int64_t> counts) {
    const ReduceOp& op = c.schedule().op();
    if (op.bytes() == 0) return;
    build_selected<reduce_scatter_table>(c, t, input_of(c, t, CallSize(op)),
                                         ReduceScatterArgs{input, result, counts});
}

void reduce_scatter_block(Collective& c, Team& t, const void* input, void* result, int64_t count) {
    if (count == 0) return;
    auto* counts =
        reinterpret_cast<int64_t*>(c.schedule().scratch(static_cast<size_t>(t.size) * sizeof(int64_t)));
    if (counts == nullptr) return;
    std::fill_n(counts, t.size, count);
    reduce_scatter(c, t, input, result, {counts, static_cast<size_t>(t.size)});
}

const char* selected_reduction(CollFunction f, const SelectionInput& in) {
    switch (f) {
    case CollFunction::barrier:
        return select<barrier_table>(in).name;
    case CollFunction::reduce:
        return select<reduce_table>(in).name;
    case CollFunction::allreduce:
        return select<allreduce_table>(in).name;
    case CollFunction::scan:
        return select<scan_table>(in).name;
    case CollFunction::reduce_scatter:
        return select<reduce_scatter_table>(in).name;
    default:
        return nullptr;
    }
}

} // namespace zipmpi::proto::coll
