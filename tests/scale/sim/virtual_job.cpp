// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "virtual_job.hpp"

#include "base/diagnostic.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace zipmpi::sim {
namespace {

using proto::Team;
using proto::coll::Collective;
using proto::coll::Hierarchy;
using proto::coll::Step;

// A place for operands: schedules only refer to it.
std::byte* nowhere(size_t offset) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): never dereferenced
    return reinterpret_cast<std::byte*>((uintptr_t{1} << 46U) + offset);
}

Action::Kind kind_of(const Step& step) {
    switch (step.kind) {
    case Step::Kind::send:
        return Action::Kind::send;
    case Step::Kind::recv:
        return Action::Kind::recv;
    case Step::Kind::combine:
        return Action::Kind::combine;
    case Step::Kind::wait:
        return Action::Kind::wait;
    default:
        return Action::Kind::copy;
    }
}

Action action(Action::Kind kind, int peer, uint64_t bytes) {
    Action a;
    a.kind = kind;
    if (peer >= 0) a.peer = peer & ((1 << 27) - 1);
    a.bytes = static_cast<uint32_t>(bytes);
    if (bytes == a.bytes && peer < (1 << 27)) return a;
    std::fputs("simulate: more than 4 GiB in a message or 2^27 ranks\n", stderr);
    std::exit(1);
}

} // namespace

VirtualJob::VirtualJob(const JobShape& shape)
    : shape_(shape) {
    segment::NodeTable nodes;
    nodes.count = static_cast<uint32_t>(shape.nodes());
    nodes.node_of.reserve(static_cast<size_t>(shape.ranks));
    for (int r = 0; r < shape.ranks; ++r) nodes.node_of.push_back(static_cast<uint32_t>(shape.node_of(r)));
    Diagnostic why;
    if (!segment::NodeSegment::make("sim", {0}, shape.ranks, segment_, why, &nodes)) {
        std::fputs(format(why, "simulate").c_str(), stderr);
        std::exit(1);
    }
    engine_ = std::make_unique<proto::ProgressEngine>(segment_, 0, 0);
    world_.engine = engine_.get();
    world_.context = 2;
    world_.size = shape.ranks;
    if (shape.clusters() == 1) return;
    std::vector<int> of_node;
    for (int node = 0; node < shape.nodes(); ++node) of_node.push_back(shape.cluster_of_node(node));
    engine_->peers().use_clusters(shape.clusters(), std::move(of_node));
}

Team& VirtualJob::team_of_nodes() { return shape_.clusters() == 1 ? world_ : world_.hierarchy.get()->node; }

// The hierarchy of a job with clusters is computed again for each: its nodes are the clusters.
void VirtualJob::enter_cluster(int cluster) {
    if (shape_.clusters() == 1 || cluster == cluster_) return;
    world_.hierarchy.reset();
    static_cast<void>(proto::coll::placement_of(world_));
    cluster_ = cluster;
    node_ = -1;
}

// The hierarchy as build_hierarchy() makes it for a rank of this node, in constant time for its other ranks.
void VirtualJob::enter_node(int node) {
    if (node == node_) return;
    Team& team = team_of_nodes();
    if (node_ < 0) static_cast<void>(proto::coll::placement_of(team)); // computes it
    Hierarchy* const shared = team.hierarchy.get();
    if (node_ >= 0 && shared != nullptr && shared->placement == proto::coll::TeamPlacement::mixed) {
        const int number = node - std::max(cluster_, 0) * shape_.nodes_per_cluster; // in its cluster
        std::vector<int> ranks(static_cast<size_t>(shared->nodes.size_of(number)));
        std::iota(ranks.begin(), ranks.end(), node * shape_.ranks_per_node);
        shared->my_node = number;
        shared->node.size = static_cast<int>(ranks.size());
        shared->node.map = shared->node.parent_ranks =
            proto::RankMap(std::make_shared<const std::vector<int>>(std::move(ranks)));
    }
    node_ = node;
}

RankProgram VirtualJob::record(int rank, const Call& call, RankMemory& memory) {
    world_.rank = rank;
    if (shape_.flat) {
        world_.scope = Team::TeamScope::across_nodes; // one rank per node
    } else {
        enter_cluster(shape_.cluster_of(rank));
        if (shape_.clusters() > 1)
            team_of_nodes().rank = rank - cluster_ * shape_.nodes_per_cluster * shape_.ranks_per_node;
        enter_node(shape_.node_of(rank));
        if (Hierarchy* const shared = team_of_nodes().hierarchy.get(); shared != nullptr)
            shared->node.rank = rank - shape_.node_of(rank) * shape_.ranks_per_node;
    }
    world_.collectives = 0;
    Collective collective(world_, Collective::Form::detached);
    call(collective, world_);
    proto::coll::Schedule& s = collective.schedule();
    RankProgram program;
    program.reserve(s.step_count() + 1); // and the wait that ends it
    for (uint32_t i = 0; i < s.step_count(); ++i) {
        const Step& step = s.step(i);
        const Action::Kind kind = kind_of(step);
        auto bytes = static_cast<uint64_t>(std::max<int64_t>(step.amount, 0));
        int peer = -1;
        if (kind == Action::Kind::send || kind == Action::Kind::recv) {
            peer = s.message(step.message).world_peer;
            bytes = s.message(step.message).bytes;
        }
        if (kind == Action::Kind::combine) bytes *= s.op().element_bytes;
        program.push_back(action(kind, peer, bytes));
    }
    memory.schedule = uint64_t{s.step_count()} * sizeof(Step) +
                      uint64_t{s.message_count()} * sizeof(proto::coll::ScheduledMessage);
    const Hierarchy* const used = world_.hierarchy.get();
    memory.hierarchy = used == nullptr
                           ? 0
                           : sizeof *used + (static_cast<uint64_t>(used->nodes.count()) + 1) * sizeof(int) +
                                 2 * static_cast<uint64_t>(used->node.size) * sizeof(int);
    return program;
}

VirtualJob::Call make_barrier() {
    return [](Collective& c, Team& t) { proto::coll::barrier(c, t); };
}

VirtualJob::Call make_broadcast(size_t bytes) {
    return [bytes](Collective& c, Team& t) { proto::coll::broadcast(c, t, nowhere(0), bytes, 0); };
}

VirtualJob::Call make_allreduce(size_t bytes) {
    return [bytes](Collective& c, Team& t) {
        proto::coll::ReduceOp op;
        op.element_bytes = sizeof(double);
        op.count = static_cast<int64_t>(bytes / sizeof(double));
        c.schedule().set_op(op);
        proto::coll::allreduce(c, t, nowhere(0), nowhere(size_t{1} << 40U));
    };
}

VirtualJob::Call make_alltoall(size_t block) {
    return [block](Collective& c, Team& t) {
        proto::coll::alltoall(c, t, nowhere(0), nowhere(size_t{1} << 40U), block);
    };
}

} // namespace zipmpi::sim
