// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Exchange of blocks of different sizes between clusters: members send outgoing items and expected sizes to
// the leader of their cluster, leaders exchange one message per pair of clusters (aggregate.hpp), members
// receive their results. Cost 3 N + A, and four copies of aggregated data. Large blocks and blocks within a
// cluster are sent directly.
#include "proto/coll/hierarchical/hierarchical.hpp"

#include "base/param.hpp"
#include "proto/coll/algorithms.hpp"
#include "proto/coll/hierarchical/aggregate.hpp"

#include <vector>

namespace zipmpi::proto::coll::hierarchical {
namespace {

Param<int64_t> aggregate_max{
    "coll.intercluster_aggregate_max",
    128 << 10, // one frame of the bridge
    {0, INT64_MAX},
    Unit::bytes,
    Level::tuner,
    Scope::job_wide,
    "largest block between clusters that is aggregated with others to the same cluster"};

// Leader of this cluster. A root leads its cluster, whose other members have no items for other clusters.
struct LeaderRoles {
    int leader = 0;
    int root = -1;
    bool leader_only = false;
};

class AggregatedExchange {
  public:
    AggregatedExchange(Collective& c, Team& t, Hierarchy& l, const LeaderRoles& roles, ExchangeItems out,
                       ExchangeItems in)
        : c_(c)
        , s_(c.schedule())
        , t_(t)
        , l_(l)
        , roles_(roles)
        , is_leader_(l.local_rank() == roles.leader)
        , out_(out)
        , in_(in) {
        for (const ExchangeItem& i : out) add(i, aggregated_out_, sizes_.items_out, sizes_.bytes_out);
        for (const ExchangeItem& i : in) add(i, aggregated_in_, sizes_.items_in, sizes_.bytes_in);
    }

    void build() {
        if (roles_.leader_only && !is_leader_)
            add_direct_messages();
        else
            is_leader_ ? build_leader() : build_member();
    }

  private:
    [[nodiscard]] bool is_aggregated(const ExchangeItem& i) const {
        return l_.nodes.node_of(i.peer) != l_.my_node && should_aggregate(i.block.bytes);
    }
    void add(const ExchangeItem& i, std::vector<ExchangeItem>& list, uint64_t& items, uint64_t& bytes) const {
        if (!is_aggregated(i) || i.block.bytes == 0) return;
        list.push_back(i);
        ++items;
        bytes += i.block.bytes;
    }
    void add_direct_messages() {
        for (const ExchangeItem& i : in_)
            if (!is_aggregated(i)) s_.recv(t_, i.block.data, i.block.bytes, i.peer);
        for (const ExchangeItem& i : out_)
            if (!is_aggregated(i)) s_.send(t_, i.block.data, i.block.bytes, i.peer);
    }
    void fill_pack(std::byte* pack) {
        auto* entry = reinterpret_cast<ItemHeader*>(pack);
        for (const ExchangeItem& i : aggregated_out_) *entry++ = {i.peer, i.block.bytes};
        for (const ExchangeItem& i : aggregated_in_) *entry++ = {i.peer, i.block.bytes};
        std::byte* data = pack + sizes_.list_bytes();
        for (const ExchangeItem& i : aggregated_out_) {
            s_.copy(data, i.block.data, i.block.bytes);
            data += i.block.bytes;
        }
    }
    void unpack_results(const std::byte* data) {
        for (const ExchangeItem& i : aggregated_in_) {
            s_.copy(i.block.data, data, i.block.bytes);
            data += i.block.bytes;
        }
    }

    void build_member() {
        auto* sizes = s_.make<SizeInfo>(sizes_);
        std::byte* pack = s_.scratch(sizes_.pack_bytes());
        std::byte* results = s_.scratch(static_cast<size_t>(sizes_.bytes_in));
        if (sizes == nullptr || pack == nullptr || results == nullptr) return;
        coll::gather(c_, l_.node, sizes, nullptr, sizeof *sizes, roles_.leader);
        fill_pack(pack);
        if (sizes_.pack_bytes() != 0) s_.send(l_.node, pack, sizes_.pack_bytes(), roles_.leader);
        add_direct_messages();
        if (sizes_.bytes_in != 0)
            s_.recv(l_.node, results, static_cast<size_t>(sizes_.bytes_in), roles_.leader);
        s_.wait();
        unpack_results(results);
    }

    void build_leader() {
        ClusterLeader* leader = roles_.leader_only ? ClusterLeader::make_for_leader(s_, l_, roles_.leader)
                                                   : ClusterLeader::make_for_cluster(s_, l_, roles_.leader);
        if (leader == nullptr) return;
        MemberItems& members = leader->members();
        members.own_sizes() = sizes_;
        ScratchBuffer& pack = members.own_pack();
        ScratchBuffer& results = members.own_results();
        if (!pack.allocate(s_, sizes_.pack_bytes()) ||
            !results.allocate(s_, static_cast<size_t>(sizes_.bytes_in)))
            return;
        if (!roles_.leader_only)
            coll::gather(c_, l_.node, nullptr, members.sizes(), sizeof(SizeInfo), roles_.leader);
        s_.wait();
        fill_pack(pack.data);
        leader->add_steps_before(l_.cross_node_team(t_, 0, roles_.root));
        add_direct_messages();
        s_.wait();
        leader->add_steps_after();
        unpack_results(results.data);
    }

    Collective& c_;
    Schedule& s_;
    Team& t_;
    Hierarchy& l_;
    LeaderRoles roles_;
    bool is_leader_;
    ExchangeItems out_;
    ExchangeItems in_;
    std::vector<ExchangeItem> aggregated_out_;
    std::vector<ExchangeItem> aggregated_in_;
    SizeInfo sizes_;
};

LeaderRoles roles_for_root(const Hierarchy& l, int root) {
    return {leader_for_root(l, root), root, l.nodes.node_of(root) == l.my_node};
}

// One item for each other rank.
std::vector<ExchangeItem> items_of(const Team& t, Blocks blocks) {
    std::vector<ExchangeItem> items;
    for (int k = 1; k < t.size && !blocks.empty(); ++k) {
        const int peer = (t.rank + k) % t.size;
        items.push_back({peer, blocks[static_cast<size_t>(peer)]});
    }
    return items;
}

} // namespace

bool should_aggregate(size_t block) { return static_cast<int64_t>(block) <= aggregate_max.get(); }

void exchange(Collective& c, Team& t, Hierarchy& l, ExchangeItems out, ExchangeItems in) {
    AggregatedExchange(c, t, l, {}, out, in).build();
}

void gatherv(Collective& c, Team& t, Hierarchy& l, Block input, Blocks all, int root) {
    const ExchangeItem own{root, input};
    AggregatedExchange(c, t, l, roles_for_root(l, root),
                       t.rank == root ? ExchangeItems{} : ExchangeItems{&own, 1},
                       t.rank == root ? items_of(t, all) : std::vector<ExchangeItem>{})
        .build();
}

void scatterv(Collective& c, Team& t, Hierarchy& l, Blocks all, Block output, int root) {
    const ExchangeItem own{root, output};
    AggregatedExchange(c, t, l, roles_for_root(l, root),
                       t.rank == root ? items_of(t, all) : std::vector<ExchangeItem>{},
                       t.rank == root ? ExchangeItems{} : ExchangeItems{&own, 1})
        .build();
}

// Empty blocks need no message: both sides pass the size.
void alltoallv(Collective& c, Team& t, Hierarchy& l, Blocks send, Blocks recv) {
    std::vector<ExchangeItem> out = items_of(t, send);
    std::vector<ExchangeItem> in = items_of(t, recv);
    std::erase_if(out, [](const ExchangeItem& i) { return i.block.bytes == 0; });
    std::erase_if(in, [](const ExchangeItem& i) { return i.block.bytes == 0; });
    AggregatedExchange(c, t, l, {}, out, in).build();
    const auto own = static_cast<size_t>(t.rank);
    c.schedule().copy(recv[own].data, send[own].data, recv[own].bytes);
}

} // namespace zipmpi::proto::coll::hierarchical
