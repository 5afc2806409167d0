// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/coll/hierarchical/aggregate.hpp"

#include "base/stable_sort.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <tuple>
#include <vector>

namespace zipmpi::proto::coll::hierarchical {
namespace {

size_t at(int i) { return static_cast<size_t>(i); }

template <class T>
T* array(Schedule& s, int n) {
    auto* memory = reinterpret_cast<T*>(s.scratch(at(n) * sizeof(T)));
    if (memory != nullptr) std::uninitialized_value_construct_n(memory, n);
    return memory;
}

template <Err (ClusterLeader::*step)()>
Err call(void* leader_state) {
    return (static_cast<ClusterLeader*>(leader_state)->*step)();
}

} // namespace

bool ScratchBuffer::allocate(Schedule& s, size_t wanted) {
    if (wanted <= bytes) return true;
    data = s.scratch(wanted);
    bytes = data != nullptr ? wanted : 0;
    return data != nullptr;
}

struct ClusterLeader::AggregateItem {
    int cluster; // destination or source
    int from;    // ranks in the team
    int to;
    std::byte* data;
    size_t bytes;
};

ClusterLeader* ClusterLeader::make(Schedule& s, Team& t, const Hierarchy& l, int leader, bool leader_only) {
    auto* leader_state = reinterpret_cast<ClusterLeader*>(s.scratch(sizeof(ClusterLeader)));
    if (leader_state == nullptr) return nullptr;
    const int m = leader_only ? 1 : l.node.size;
    const int n = l.nodes.count();
    *leader_state = {&s,
                     &t,
                     &l,
                     m,
                     leader_only ? leader : 0,
                     leader_only ? 0 : leader,
                     array<SizeInfo>(s, m),
                     array<ScratchBuffer>(s, m),
                     array<ScratchBuffer>(s, m),
                     array<ScratchBuffer>(s, n),
                     array<ScratchBuffer>(s, n),
                     array<size_t>(s, n),
                     array<uint32_t>(s, m),
                     array<uint32_t>(s, m),
                     array<uint32_t>(s, n),
                     array<uint32_t>(s, n)};
    return s.state() == Err::success ? leader_state : nullptr;
}

int ClusterLeader::rank_of(int member) const {
    return hierarchy->nodes.member(hierarchy->my_node, first_local_rank + member);
}

void ClusterLeader::add_steps_before(const Team& leaders) {
    Schedule& s = *schedule;
    const Team& cluster = hierarchy->node;
    s.call(call<&ClusterLeader::prepare_packs>, this);
    for (int i = 0; i < members; ++i)
        if (i != own_index) pack_recv[i] = s.open_recv(cluster, first_local_rank + i);
    s.wait();
    s.call(call<&ClusterLeader::pack_aggregates>, this);
    for (int k = 1; k < clusters(); ++k) {
        const int from = (leaders.rank - k + clusters()) % clusters();
        const int to = (leaders.rank + k) % clusters();
        aggregate_recv[from] = s.open_recv(leaders, from);
        aggregate_send[to] = s.open_send(leaders, to);
    }
}

void ClusterLeader::add_steps_after() {
    Schedule& s = *schedule;
    s.call(call<&ClusterLeader::unpack_aggregates>, this);
    for (int i = 0; i < members; ++i)
        if (i != own_index) result_send[i] = s.open_send(hierarchy->node, first_local_rank + i);
}

Err ClusterLeader::prepare_packs() {
    for (int i = 0; i < members; ++i) {
        if (!packs[i].allocate(*schedule, sizes[i].pack_bytes()) ||
            !results[i].allocate(*schedule, static_cast<size_t>(sizes[i].bytes_in)))
            return schedule->state();
        if (i != own_index) schedule->fill(pack_recv[i], packs[i].data, sizes[i].pack_bytes());
    }
    return Err::success;
}

// Items that members send to other clusters (out) or receive from them, in aggregate order.
std::vector<ClusterLeader::AggregateItem> ClusterLeader::items(bool out) const {
    std::vector<AggregateItem> list;
    for (int i = 0; i < members; ++i) {
        const auto* entry =
            reinterpret_cast<const ItemHeader*>(packs[i].data) + (out ? 0 : sizes[i].items_out);
        std::byte* data = out ? packs[i].data + sizes[i].list_bytes() : results[i].data;
        const uint64_t n = out ? sizes[i].items_out : sizes[i].items_in;
        for (uint64_t k = 0; k < n; ++k, data += entry->bytes, ++entry) {
            const auto peer = static_cast<int>(entry->peer);
            list.push_back({hierarchy->nodes.node_of(peer), out ? rank_of(i) : peer, out ? peer : rank_of(i),
                            data, static_cast<size_t>(entry->bytes)});
        }
    }
    stable_sort(list, [](const AggregateItem& a, const AggregateItem& b) {
        return std::tuple(a.cluster, a.from, a.to) < std::tuple(b.cluster, b.from, b.to);
    });
    return list;
}

Err ClusterLeader::pack_aggregates() {
    if (schedule->state() != Err::success) return schedule->state();
    const std::vector<AggregateItem> out = items(true);
    std::vector<size_t> bytes_out(at(clusters()));
    std::fill_n(bytes_in, clusters(), 0);
    for (const AggregateItem& p : out) bytes_out[at(p.cluster)] += p.bytes;
    for (const AggregateItem& p : items(false)) bytes_in[p.cluster] += p.bytes;
    for (int c = 0; c < clusters(); ++c) {
        if (c == hierarchy->my_node) continue;
        if (!aggregates_out[c].allocate(*schedule, bytes_out[at(c)]) ||
            !aggregates_in[c].allocate(*schedule, bytes_in[c]))
            return schedule->state();
        schedule->fill(aggregate_send[c], aggregates_out[c].data, bytes_out[at(c)]);
        schedule->fill(aggregate_recv[c], aggregates_in[c].data, bytes_in[c]);
    }
    std::vector<size_t> filled(at(clusters()));
    for (const AggregateItem& p : out) {
        std::memcpy(aggregates_out[p.cluster].data + filled[at(p.cluster)], p.data, p.bytes);
        filled[at(p.cluster)] += p.bytes;
    }
    return Err::success;
}

Err ClusterLeader::unpack_aggregates() {
    if (schedule->state() != Err::success) return schedule->state();
    std::vector<size_t> consumed(at(clusters()));
    for (const AggregateItem& p : items(false)) {
        std::memcpy(p.data, aggregates_in[p.cluster].data + consumed[at(p.cluster)], p.bytes);
        consumed[at(p.cluster)] += p.bytes;
    }
    for (int i = 0; i < members; ++i)
        if (i != own_index)
            schedule->fill(result_send[i], results[i].data, static_cast<size_t>(sizes[i].bytes_in));
    return Err::success;
}

} // namespace zipmpi::proto::coll::hierarchical
