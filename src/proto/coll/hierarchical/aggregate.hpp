// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Cluster leader of an aggregated exchange (exchange.cpp). Members send the leader their items for ranks of
// other clusters and the sizes of the items they expect. All items to one cluster travel in one message, an
// aggregate; the leader there distributes them. Sizes are known only at run time, so message buffers are set
// while the schedule runs.
//
// Items of an aggregate are sorted by sender, then by receiver, then by list order. Both leaders compute the
// same order, so no sizes are sent between clusters.
//
// Threads: under the lock of the progress engine, as schedules.
#pragma once

#include "proto/coll/coll.hpp"
#include "proto/coll/hierarchy.hpp"

#include <vector>

namespace zipmpi::proto::coll::hierarchical {

// First message of a member: totals of its items.
struct SizeInfo {
    uint64_t items_out = 0;
    uint64_t items_in = 0;
    uint64_t bytes_out = 0;
    uint64_t bytes_in = 0;

    [[nodiscard]] size_t list_bytes() const;
    [[nodiscard]] size_t pack_bytes() const { return list_bytes() + static_cast<size_t>(bytes_out); }
};

// Second message of a member, its pack: an ItemHeader per outgoing item, one per incoming item, then the
// outgoing data. Items are usually small, so headers and data share one message.
struct ItemHeader {
    int64_t peer; // rank in the team
    uint64_t bytes;
};

inline size_t SizeInfo::list_bytes() const {
    return static_cast<size_t>(items_out + items_in) * sizeof(ItemHeader);
}

// Scratch memory of a schedule that is reused between runs.
struct ScratchBuffer {
    std::byte* data = nullptr;
    size_t bytes = 0;
    bool allocate(Schedule& s, size_t wanted);
};

// An item of an aggregate.
struct AggregateItem {
    int cluster; // destination or source
    int from;    // ranks in the team
    int to;
    std::byte* data;
    size_t bytes;
};

// The members of a cluster whose items the leader aggregates: all of the cluster, or only the leader.
class MemberItems {
  public:
    enum class Direction { out, in };

    MemberItems(Schedule& s, const Hierarchy& l, int members, int first_local_rank, int own_index);

    // Filled by the leader itself.
    [[nodiscard]] SizeInfo* sizes() { return sizes_; } // by member
    [[nodiscard]] SizeInfo& own_sizes() { return sizes_[own_index_]; }
    [[nodiscard]] ScratchBuffer& own_pack() { return packs_[own_index_]; }
    [[nodiscard]] ScratchBuffer& own_results() { return results_[own_index_]; }

    // Adds the messages with the packs of the other members, and those with their results.
    void add_pack_messages(Schedule& s, const Team& cluster);
    void add_result_messages(Schedule& s, const Team& cluster);
    // While the schedule runs: buffers for packs and results, once the sizes are known; then the results.
    Err prepare(Schedule& s);
    void send_results(Schedule& s) const;
    // Items that members send to other clusters or receive from them, in aggregate order.
    [[nodiscard]] std::vector<AggregateItem> list(Direction direction) const;

  private:
    [[nodiscard]] int rank_of(int member) const;

    const Hierarchy* hierarchy_;
    int members_;
    int first_local_rank_;
    int own_index_;          // of the leader
    SizeInfo* sizes_;        // by member
    ScratchBuffer* packs_;   // by member
    ScratchBuffer* results_; // by member: its incoming data, in list order
    uint32_t* pack_recv_;    // messages, by member
    uint32_t* result_send_;
};

// One message to and from each other cluster.
class Aggregates {
  public:
    Aggregates(Schedule& s, int clusters, int own_cluster);

    void add_messages(Schedule& s, const Team& leaders);
    // While the schedule runs: copies the outgoing items into messages and prepares buffers for the incoming
    // ones; after the exchange, copies those to their places.
    Err pack(Schedule& s, const std::vector<AggregateItem>& out, const std::vector<AggregateItem>& in);
    void unpack(const std::vector<AggregateItem>& in) const;

  private:
    int clusters_;
    int own_cluster_;
    ScratchBuffer* out_; // by cluster
    ScratchBuffer* in_;
    uint32_t* send_; // messages, by cluster
    uint32_t* recv_;
};

// Allocated in scratch memory of the schedule.
class ClusterLeader {
  public:
    // members: that take part
    ClusterLeader(Schedule& s, const Hierarchy& l, int members, int first_local_rank, int own_index)
        : schedule_(&s)
        , hierarchy_(&l)
        , members_(s, l, members, first_local_rank, own_index)
        , aggregates_(s, l.nodes.count(), l.my_node) {}

    // For all members of the cluster, or for the leader only. Null if out of memory.
    static ClusterLeader* make_for_cluster(Schedule& s, const Hierarchy& l, int leader);
    static ClusterLeader* make_for_leader(Schedule& s, const Hierarchy& l, int leader);

    [[nodiscard]] MemberItems& members() { return members_; }
    // The steps of the leader up to the exchange of aggregates, and those after it.
    void add_steps_before(const Team& leaders);
    void add_steps_after();

  private:
    Err prepare_packs();
    Err pack_aggregates();
    Err unpack_aggregates();

    Schedule* schedule_;
    const Hierarchy* hierarchy_;
    MemberItems members_;
    Aggregates aggregates_;
};

} // namespace zipmpi::proto::coll::hierarchical
