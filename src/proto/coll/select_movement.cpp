// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Algorithms of collectives that move data.
#include "proto/coll/algorithms.hpp"
#include "proto/coll/hierarchical/hierarchical.hpp"
#include "proto/coll/select.hpp"
#include "proto/coll/shm/shm.hpp"

namespace zipmpi::proto::coll {
namespace {

using enum Resource;

struct BroadcastArgs {
    void* data;
    int root;
};
struct GatherArgs {
    const void* input;
    void* all;
    int root;
};
struct ScatterArgs {
    const void* all;
    void* output;
    int root;
};
struct AllgatherArgs {
    const void* input;
    void* all;
};
struct AlltoallArgs {
    const void* send;
    void* recv;
};

Blocks equal_blocks(Schedule& s, const Team& t, const void* base, size_t block) {
    auto* blocks = reinterpret_cast<Block*>(s.scratch(static_cast<size_t>(t.size) * sizeof(Block)));
    if (blocks == nullptr) return {};
    for (size_t r = 0; r < static_cast<size_t>(t.size); ++r)
        blocks[r] = {at(const_cast<void*>(base), r * block), block};
    return {blocks, static_cast<size_t>(t.size)};
}

bool can_gather_by_node(const SelectionInput& in) {
    return is_ordered_hierarchy(in) &&
           (in.team.hierarchy->nodes_are_clusters ||
            hierarchical::prefer_hierarchical_gather(*in.team.hierarchy, in.ranks, in.size.bytes));
}

bool can_alltoall_by_node(const SelectionInput& in) {
    return is_ordered_hierarchy(in) &&
           (in.team.hierarchy->nodes_are_clusters
                ? hierarchical::should_aggregate(in.size.bytes)
                : hierarchical::prefer_hierarchical_alltoall(*in.team.hierarchy, in.ranks, in.size.bytes));
}

bool can_forward_to_root(const SelectionInput& in) { return !is_direct_to_root(in); }

constexpr Algorithm<BroadcastArgs> broadcast_table[] = {
    {"shm", coll_buffer, always, nullptr,
     [](Collective& c, Team& t, const SelectionInput& in, const BroadcastArgs& a) {
         return shm::broadcast(c, t, a.data, in.size.bytes, a.root);
     }},
    {"hierarchical", messages, is_hierarchical, nullptr,
     [](Collective& c, Team& t, const SelectionInput& in, const BroadcastArgs& a) {
         hierarchical::broadcast(c, t, *in.team.hierarchy, a.data, in.size.bytes, a.root);
         return true;
     }},
    {"intercluster", messages, is_intercluster, nullptr,
     [](Collective& c, Team& t, const SelectionInput& in, const BroadcastArgs& a) {
         intercluster::broadcast(c.schedule(), t, a.data, in.size.bytes, a.root);
         return true;
     }},
    {"binomial", messages, always, broadcast_binomial::cost,
     [](Collective& c, Team& t, const SelectionInput& in, const BroadcastArgs& a) {
         broadcast_binomial::build(c.schedule(), t, a.data, in.size.bytes, a.root);
         return true;
     }},
    {"scatter_allgather", messages, always, broadcast_scatter_allgather::cost,
     [](Collective& c, Team& t, const SelectionInput& in, const BroadcastArgs& a) {
         broadcast_scatter_allgather::build(c.schedule(), t, a.data, in.size.bytes, a.root);
         return true;
     }},
    {"chain", messages, spans_nodes, broadcast_chain::cost,
     [](Collective& c, Team& t, const SelectionInput& in, const BroadcastArgs& a) {
         broadcast_chain::build(c.schedule(), t, a.data, in.size.bytes, a.root, cost_model_for(in));
         return true;
     }},
};

constexpr Algorithm<GatherArgs> gather_table[] = {
    {"shm", coll_buffer, always, nullptr,
     [](Collective& c, Team& t, const SelectionInput& in, const GatherArgs& a) {
         return shm::gather(c, t, a.input, a.all, in.size.bytes, a.root);
     }},
    {"hierarchical", messages, can_gather_by_node, nullptr,
     [](Collective& c, Team& t, const SelectionInput& in, const GatherArgs& a) {
         hierarchical::gather(c, t, *in.team.hierarchy, a.input, a.all, in.size.bytes, a.root);
         return true;
     }},
    {"linear", messages, always, gather_linear::cost,
     [](Collective& c, Team& t, const SelectionInput& in, const GatherArgs& a) {
         const size_t block = in.size.bytes;
         const Block own{static_cast<std::byte*>(const_cast<void*>(a.input)), block};
         gatherv(c, t, own, t.rank == a.root ? equal_blocks(c.schedule(), t, a.all, block) : Blocks{},
                 a.root);
         return true;
     }},
    {"binomial", messages, can_forward_to_root, gather_binomial::cost,
     [](Collective& c, Team& t, const SelectionInput& in, const GatherArgs& a) {
         gather_binomial::gather(c.schedule(), t, a.input, a.all, in.size.bytes, a.root);
         return true;
     }},
};

constexpr Algorithm<ScatterArgs> scatter_table[] = {
    {"shm", coll_buffer, always, nullptr,
     [](Collective& c, Team& t, const SelectionInput& in, const ScatterArgs& a) {
         return shm::scatter(c, t, a.all, a.output, in.size.bytes, a.root);
     }},
    {"hierarchical", messages, can_gather_by_node, nullptr,
     [](Collective& c, Team& t, const SelectionInput& in, const ScatterArgs& a) {
         hierarchical::scatter(c, t, *in.team.hierarchy, a.all, a.output, in.size.bytes, a.root);
         return true;
     }},
    {"linear", messages, always, gather_linear::cost,
     [](Collective& c, Team& t, const SelectionInput& in, const ScatterArgs& a) {
         const size_t block = in.size.bytes;
         const Block own{static_cast<std::byte*>(a.output), block};
         scatterv(c, t, t.rank == a.root ? equal_blocks(c.schedule(), t, a.all, block) : Blocks{}, own,
                  a.root);
         return true;
     }},
    {"binomial", messages, can_forward_to_root, gather_binomial::cost,
     [](Collective& c, Team& t, const SelectionInput& in, const ScatterArgs& a) {
         gather_binomial::scatter(c.schedule(), t, a.all, a.output, in.size.bytes, a.root);
         return true;
     }},
};

// Copies the rank's own block to its place in the result.
void copy_own_block(Collective& c, Team& t, const SelectionInput& in, const AllgatherArgs& a) {
    c.schedule().copy(at(a.all, static_cast<size_t>(t.rank) * in.size.bytes), a.input, in.size.bytes);
}

Blocks result_blocks(Collective& c, Team& t, const SelectionInput& in, const AllgatherArgs& a) {
    return equal_blocks(c.schedule(), t, a.all, in.size.bytes);
}

constexpr Algorithm<AllgatherArgs> allgather_table[] = {
    {"cma", cma, shm::can_cma_allgather, nullptr,
     [](Collective& c, Team& t, const SelectionInput& in, const AllgatherArgs& a) {
         return shm::cma_allgather(c, t, a.input, a.all, in.size.bytes);
     }},
    {"shm", coll_buffer, always, nullptr,
     [](Collective& c, Team& t, const SelectionInput& in, const AllgatherArgs& a) {
         return shm::allgather(c, t, a.input, a.all, in.size.bytes);
     }},
    {"hierarchical", messages, is_ordered_hierarchy, nullptr,
     [](Collective& c, Team& t, const SelectionInput& in, const AllgatherArgs& a) {
         hierarchical::allgather(c, t, *in.team.hierarchy, a.input, a.all, in.size.bytes);
         return true;
     }},
    {"copy", messages, [](const SelectionInput& in) { return in.ranks == 1; }, nullptr,
     [](Collective& c, Team& t, const SelectionInput& in, const AllgatherArgs& a) {
         copy_own_block(c, t, in, a);
         return true;
     }},
    {"hierarchical_blocks", messages, spans_clusters, nullptr,
     [](Collective& c, Team& t, const SelectionInput& in, const AllgatherArgs& a) {
         copy_own_block(c, t, in, a);
         hierarchical::allgatherv(c, t, *in.team.hierarchy, result_blocks(c, t, in, a));
         return true;
     }},
    {"intercluster", messages, is_intercluster, nullptr,
     [](Collective& c, Team& t, const SelectionInput& in, const AllgatherArgs& a) {
         copy_own_block(c, t, in, a);
         intercluster::allgatherv(c.schedule(), t, result_blocks(c, t, in, a));
         return true;
     }},
    {"ring", messages, always, allgather_ring::cost,
     [](Collective& c, Team& t, const SelectionInput& in, const AllgatherArgs& a) {
         copy_own_block(c, t, in, a);
         allgather_ring::build(c.schedule(), t, result_blocks(c, t, in, a));
         return true;
     }},
    {"dissemination", messages, always, allgather_dissemination::cost,
     [](Collective& c, Team& t, const SelectionInput& in, const AllgatherArgs& a) {
         copy_own_block(c, t, in, a);
         allgather_dissemination::build(c.schedule(), t, a.all, in.size.bytes);
         return true;
     }},
};

constexpr Algorithm<AlltoallArgs> alltoall_table[] = {
    {"cma", cma, shm::can_cma_alltoall, nullptr,
     [](Collective& c, Team& t, const SelectionInput& in, const AlltoallArgs& a) {
         return shm::cma_alltoall(c, t, a.send, a.recv, in.size.bytes);
     }},
    {"shm", coll_buffer, shm::can_alltoall, nullptr,
     [](Collective& c, Team& t, const SelectionInput& in, const AlltoallArgs& a) {
         return shm::alltoall(c, t, a.send, a.recv, in.size.bytes);
     }},
    {"hierarchical", messages, can_alltoall_by_node, nullptr,
     [](Collective& c, Team& t, const SelectionInput& in, const AlltoallArgs& a) {
         hierarchical::alltoall(c, t, *in.team.hierarchy, a.send, a.recv, in.size.bytes);
         return true;
     }},
    {"direct", messages, always, alltoall_direct::cost,
     [](Collective& c, Team& t, const SelectionInput& in, const AlltoallArgs& a) {
         const Blocks send = equal_blocks(c.schedule(), t, a.send, in.size.bytes);
         const Blocks recv = equal_blocks(c.schedule(), t, a.recv, in.size.bytes);
         if (!send.empty() && !recv.empty()) alltoallv(c, t, send, recv);
         return true;
     }},
    {"bruck", messages, [](const SelectionInput& in) { return spans_nodes(in) && !spans_clusters(in); },
     alltoall_bruck::cost,
     [](Collective& c, Team& t, const SelectionInput& in, const AlltoallArgs& a) {
         alltoall_bruck::build(c.schedule(), t, a.send, a.recv, in.size.bytes);
         return true;
     }},
};

} // namespace

void broadcast(Collective& c, Team& t, void* data, size_t bytes, int root) {
    if (t.size == 1 || bytes == 0) return;
    build_selected<broadcast_table>(c, t, input_of(c, t, CallSize(bytes)), BroadcastArgs{data, root});
}

void gather(Collective& c, Team& t, const void* input, void* all, size_t block, int root) {
    if (t.size == 1 || block == 0) return;
    build_selected<gather_table>(c, t, input_of(c, t, CallSize(block)), GatherArgs{input, all, root});
}

void scatter(Collective& c, Team& t, const void* all, void* output, size_t block, int root) {
    if (t.size == 1 || block == 0) return;
    build_selected<scatter_table>(c, t, input_of(c, t, CallSize(block)), ScatterArgs{all, output, root});
}

void allgather(Collective& c, Team& t, const void* input, void* all, size_t block) {
    if (block == 0) return;
    build_selected<allgather_table>(c, t, input_of(c, t, CallSize(block)), AllgatherArgs{input, all});
}

void alltoall(Collective& c, Team& t, const void* send, void* recv, size_t block) {
    if (block == 0) return;
    build_selected<alltoall_table>(c, t, input_of(c, t, CallSize(block)), AlltoallArgs{send, recv});
}

const char* selected_movement(CollFunction f, const SelectionInput& in) {
    switch (f) {
    case CollFunction::broadcast:
        return select<broadcast_table>(in).name;
    case CollFunction::gather:
        return select<gather_table>(in).name;
    case CollFunction::scatter:
        return select<scatter_table>(in).name;
    case CollFunction::allgather:
        return select<allgather_table>(in).name;
    case CollFunction::alltoall:
        return select<alltoall_table>(in).name;
    default:
        return nullptr;
    }
}

} // namespace zipmpi::proto::coll
