// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/coll/hierarchical/aggregate.hpp"

#include "base/stable_sort.hpp"

#include <cstring>
#include <memory>
#include <tuple>

namespace zipmpi::proto::coll::hierarchical {
namespace {

size_t at(int i) { return static_cast<size_t>(i); }

template <class T>
T* array(Schedule& s, int n) {
    auto* memory = reinterpret_cast<T*>(s.scratch(at(n) * sizeof(T)));
    if (memory != nullptr) std::uninitialized_value_construct_n(memory, n);
    return memory;
}

} // namespace

bool ScratchBuffer::allocate(Schedule& s, size_t wanted) {
    if (wanted <= bytes) return true;
    data = s.scratch(wanted);
    bytes = data != nullptr ? wanted : 0;
    return data != nullptr;
}

MemberItems::MemberItems(Schedule& s, const Hierarchy& l, int members, int first_local_rank, int own_index)
    : hierarchy_(&l)
    , members_(members)
    , first_local_rank_(first_local_rank)
    , own_index_(own_index)
    , sizes_(array<SizeInfo>(s, members))
    , packs_(array<ScratchBuffer>(s, members))
    , results_(array<ScratchBuffer>(s, members))
    , pack_recv_(array<uint32_t>(s, members))
    , result_send_(array<uint32_t>(s, members)) {}

int MemberItems::rank_of(int member) const {
    return hierarchy_->nodes.member(hierarchy_->my_node, first_local_rank_ + member);
}

void MemberItems::add_pack_messages(Schedule& s, const Team& cluster) {
    for (int i = 0; i < members_; ++i)
        if (i != own_index_) pack_recv_[i] = s.open_recv(cluster, first_local_rank_ + i);
}

void MemberItems::add_result_messages(Schedule& s, const Team& cluster) {
    for (int i = 0; i < members_; ++i)
        if (i != own_index_) result_send_[i] = s.open_send(cluster, first_local_rank_ + i);
}

Err MemberItems::prepare(Schedule& s) {
    for (int i = 0; i < members_; ++i) {
        if (!packs_[i].allocate(s, sizes_[i].pack_bytes()) ||
            !results_[i].allocate(s, static_cast<size_t>(sizes_[i].bytes_in)))
            return s.state();
        if (i != own_index_) s.fill(pack_recv_[i], packs_[i].data, sizes_[i].pack_bytes());
    }
    return Err::success;
}

void MemberItems::send_results(Schedule& s) const {
    for (int i = 0; i < members_; ++i)
        if (i != own_index_)
            s.fill(result_send_[i], results_[i].data, static_cast<size_t>(sizes_[i].bytes_in));
}

std::vector<AggregateItem> MemberItems::list(Direction direction) const {
    const bool out = direction == Direction::out;
    std::vector<AggregateItem> items;
    for (int i = 0; i < members_; ++i) {
        const auto* entry =
            reinterpret_cast<const ItemHeader*>(packs_[i].data) + (out ? 0 : sizes_[i].items_out);
        std::byte* data = out ? packs_[i].data + sizes_[i].list_bytes() : results_[i].data;
        const uint64_t n = out ? sizes_[i].items_out : sizes_[i].items_in;
        for (uint64_t k = 0; k < n; ++k, data += entry->bytes, ++entry) {
            const auto peer = static_cast<int>(entry->peer);
            items.push_back({hierarchy_->nodes.node_of(peer), out ? rank_of(i) : peer,
                             out ? peer : rank_of(i), data, static_cast<size_t>(entry->bytes)});
        }
    }
    stable_sort(items, [](const AggregateItem& a, const AggregateItem& b) {
        return std::tuple(a.cluster, a.from, a.to) < std::tuple(b.cluster, b.from, b.to);
    });
    return items;
}

Aggregates::Aggregates(Schedule& s, int clusters, int own_cluster)
    : clusters_(clusters)
    , own_cluster_(own_cluster)
    , out_(array<ScratchBuffer>(s, clusters))
    , in_(array<ScratchBuffer>(s, clusters))
    , send_(array<uint32_t>(s, clusters))
    , recv_(array<uint32_t>(s, clusters)) {}

void Aggregates::add_messages(Schedule& s, const Team& leaders) {
    for (int k = 1; k < clusters_; ++k) {
        const int from = (leaders.rank - k + clusters_) % clusters_;
        const int to = (leaders.rank + k) % clusters_;
        recv_[from] = s.open_recv(leaders, from);
        send_[to] = s.open_send(leaders, to);
    }
}

Err Aggregates::pack(Schedule& s, const std::vector<AggregateItem>& out,
                     const std::vector<AggregateItem>& in) {
    std::vector<size_t> bytes_out(at(clusters_));
    std::vector<size_t> bytes_in(at(clusters_));
    for (const AggregateItem& p : out) bytes_out[at(p.cluster)] += p.bytes;
    for (const AggregateItem& p : in) bytes_in[at(p.cluster)] += p.bytes;
    for (int c = 0; c < clusters_; ++c) {
        if (c == own_cluster_) continue;
        if (!out_[c].allocate(s, bytes_out[at(c)]) || !in_[c].allocate(s, bytes_in[at(c)])) return s.state();
        s.fill(send_[c], out_[c].data, bytes_out[at(c)]);
        s.fill(recv_[c], in_[c].data, bytes_in[at(c)]);
    }
    std::vector<size_t> filled(at(clusters_));
    for (const AggregateItem& p : out) {
        std::memcpy(out_[p.cluster].data + filled[at(p.cluster)], p.data, p.bytes);
        filled[at(p.cluster)] += p.bytes;
    }
    return Err::success;
}

void Aggregates::unpack(const std::vector<AggregateItem>& in) const {
    std::vector<size_t> consumed(at(clusters_));
    for (const AggregateItem& p : in) {
        std::memcpy(p.data, in_[p.cluster].data + consumed[at(p.cluster)], p.bytes);
        consumed[at(p.cluster)] += p.bytes;
    }
}

ClusterLeader* ClusterLeader::make_for_cluster(Schedule& s, const Hierarchy& l, int leader) {
    auto* made = s.make<ClusterLeader>(s, l, l.node.size, 0, leader);
    return s.state() == Err::success ? made : nullptr;
}

ClusterLeader* ClusterLeader::make_for_leader(Schedule& s, const Hierarchy& l, int leader) {
    auto* made = s.make<ClusterLeader>(s, l, 1, leader, 0);
    return s.state() == Err::success ? made : nullptr;
}

void ClusterLeader::add_steps_before(const Team& leaders) {
    Schedule& s = *schedule_;
    s.call([](void* leader) { return static_cast<ClusterLeader*>(leader)->prepare_packs(); }, this);
    members_.add_pack_messages(s, hierarchy_->node);
    s.wait();
    s.call([](void* leader) { return static_cast<ClusterLeader*>(leader)->pack_aggregates(); }, this);
    aggregates_.add_messages(s, leaders);
}

void ClusterLeader::add_steps_after() {
    schedule_->call([](void* leader) { return static_cast<ClusterLeader*>(leader)->unpack_aggregates(); },
                    this);
    members_.add_result_messages(*schedule_, hierarchy_->node);
}

Err ClusterLeader::prepare_packs() { return members_.prepare(*schedule_); }

Err ClusterLeader::pack_aggregates() {
    if (schedule_->state() != Err::success) return schedule_->state();
    return aggregates_.pack(*schedule_, members_.list(MemberItems::Direction::out),
                            members_.list(MemberItems::Direction::in));
}

Err ClusterLeader::unpack_aggregates() {
    if (schedule_->state() != Err::success) return schedule_->state();
    aggregates_.unpack(members_.list(MemberItems::Direction::in));
    members_.send_results(*schedule_);
    return Err::success;
}

} // namespace zipmpi::proto::coll::hierarchical
