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

// Allocated in scratch memory of the schedule.
class ClusterLeader {
  public:
    Schedule* schedule;
    Team* team;
    const Hierarchy* hierarchy;
    int members;                   // that take part: all of the cluster, or only the leader
    int first_local_rank;          // of these members
    int own_index;                 // index of the leader among them
    SizeInfo* sizes;               // by member
    ScratchBuffer* packs;          // by member; the leader fills its own
    ScratchBuffer* results;        // by member: its incoming data, in list order
    ScratchBuffer* aggregates_out; // by cluster
    ScratchBuffer* aggregates_in;  // by cluster
    size_t* bytes_in;              // by cluster
    uint32_t* pack_recv;           // indices of messages, by member or by cluster
    uint32_t* result_send;
    uint32_t* aggregate_send;
    uint32_t* aggregate_recv;

    static ClusterLeader* make(Schedule& s, Team& t, const Hierarchy& l, int leader, bool leader_only);
    // The steps of the leader up to the exchange of aggregates, and those after it.
    void add_steps_before(const Team& leaders);
    void add_steps_after();

  private:
    struct AggregateItem;
    [[nodiscard]] int rank_of(int member) const;
    [[nodiscard]] int clusters() const { return hierarchy->nodes.count(); }
    [[nodiscard]] std::vector<AggregateItem> items(bool out) const;
    Err prepare_packs();
    Err pack_aggregates();
    Err unpack_aggregates();
};

} // namespace zipmpi::proto::coll::hierarchical
