// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/coll/two_level/bundles.hpp"

#include "base/stable_sort.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <tuple>
#include <vector>

namespace zipmpi::proto::coll::two_level {
namespace {

size_t at(int i) { return static_cast<size_t>(i); }

template <class T>
T* array(Schedule& s, int n) {
    auto* memory = reinterpret_cast<T*>(s.scratch(at(n) * sizeof(T)));
    if (memory != nullptr) std::uninitialized_value_construct_n(memory, n);
    return memory;
}

template <Err (Hub::*step)()>
Err call(void* hub) {
    return (static_cast<Hub*>(hub)->*step)();
}

} // namespace

bool Room::make(Schedule& s, size_t wanted) {
    if (wanted <= bytes) return true;
    data = s.scratch(wanted);
    bytes = data != nullptr ? wanted : 0;
    return data != nullptr;
}

struct Hub::Piece {
    int cluster; // it goes to, or comes from
    int from;    // ranks in the team
    int to;
    std::byte* data;
    size_t bytes;
};

Hub* Hub::make(Schedule& s, Team& t, const Levels& l, int leader, bool alone) {
    auto* hub = reinterpret_cast<Hub*>(s.scratch(sizeof(Hub)));
    if (hub == nullptr) return nullptr;
    const int m = alone ? 1 : l.node.size;
    const int n = l.nodes.count();
    *hub = {&s,
            &t,
            &l,
            m,
            alone ? leader : 0,
            alone ? 0 : leader,
            array<Announcement>(s, m),
            array<Room>(s, m),
            array<Room>(s, m),
            array<Room>(s, n),
            array<Room>(s, n),
            array<size_t>(s, n),
            array<uint32_t>(s, m),
            array<uint32_t>(s, m),
            array<uint32_t>(s, n),
            array<uint32_t>(s, n)};
    return s.state() == Err::success ? hub : nullptr;
}

int Hub::rank_of(int member) const { return levels->nodes.member(levels->my_node, first_place + member); }

void Hub::add_steps_before(const Team& leaders) {
    Schedule& s = *schedule;
    const Team& cluster = levels->node;
    s.call(call<&Hub::expect_packs>, this);
    for (int i = 0; i < members; ++i)
        if (i != own) pack_recv[i] = s.open_recv(cluster, first_place + i);
    s.wait();
    s.call(call<&Hub::sort_out>, this);
    for (int k = 1; k < clusters(); ++k) {
        const int from = (leaders.rank - k + clusters()) % clusters();
        const int to = (leaders.rank + k) % clusters();
        bundle_recv[from] = s.open_recv(leaders, from);
        bundle_send[to] = s.open_send(leaders, to);
    }
}

void Hub::add_steps_after() {
    Schedule& s = *schedule;
    s.call(call<&Hub::sort_in>, this);
    for (int i = 0; i < members; ++i)
        if (i != own) return_send[i] = s.open_send(levels->node, first_place + i);
}

Err Hub::expect_packs() {
    for (int i = 0; i < members; ++i) {
        if (!packs[i].make(*schedule, said[i].pack_bytes()) ||
            !returns[i].make(*schedule, static_cast<size_t>(said[i].bytes_in)))
            return schedule->state();
        if (i != own) schedule->fill(pack_recv[i], packs[i].data, said[i].pack_bytes());
    }
    return Err::success;
}

// What members send to other clusters, or get from there, in the order of bundles.
std::vector<Hub::Piece> Hub::pieces(bool out) const {
    std::vector<Piece> list;
    for (int i = 0; i < members; ++i) {
        const auto* entry = reinterpret_cast<const Entry*>(packs[i].data) + (out ? 0 : said[i].items_out);
        std::byte* data = out ? packs[i].data + said[i].list_bytes() : returns[i].data;
        const uint64_t n = out ? said[i].items_out : said[i].items_in;
        for (uint64_t k = 0; k < n; ++k, data += entry->bytes, ++entry) {
            const auto peer = static_cast<int>(entry->peer);
            list.push_back({levels->nodes.node_of(peer), out ? rank_of(i) : peer, out ? peer : rank_of(i),
                            data, static_cast<size_t>(entry->bytes)});
        }
    }
    stable_sort(list, [](const Piece& a, const Piece& b) {
        return std::tuple(a.cluster, a.from, a.to) < std::tuple(b.cluster, b.from, b.to);
    });
    return list;
}

Err Hub::sort_out() {
    if (schedule->state() != Err::success) return schedule->state();
    const std::vector<Piece> out = pieces(true);
    std::vector<size_t> bytes_out(at(clusters()));
    std::fill_n(bytes_in, clusters(), 0);
    for (const Piece& p : out) bytes_out[at(p.cluster)] += p.bytes;
    for (const Piece& p : pieces(false)) bytes_in[p.cluster] += p.bytes;
    for (int c = 0; c < clusters(); ++c) {
        if (c == levels->my_node) continue;
        if (!bundles_out[c].make(*schedule, bytes_out[at(c)]) || !bundles_in[c].make(*schedule, bytes_in[c]))
            return schedule->state();
        schedule->fill(bundle_send[c], bundles_out[c].data, bytes_out[at(c)]);
        schedule->fill(bundle_recv[c], bundles_in[c].data, bytes_in[c]);
    }
    std::vector<size_t> filled(at(clusters()));
    for (const Piece& p : out) {
        std::memcpy(bundles_out[p.cluster].data + filled[at(p.cluster)], p.data, p.bytes);
        filled[at(p.cluster)] += p.bytes;
    }
    return Err::success;
}

Err Hub::sort_in() {
    if (schedule->state() != Err::success) return schedule->state();
    std::vector<size_t> taken(at(clusters()));
    for (const Piece& p : pieces(false)) {
        std::memcpy(p.data, bundles_in[p.cluster].data + taken[at(p.cluster)], p.bytes);
        taken[at(p.cluster)] += p.bytes;
    }
    for (int i = 0; i < members; ++i)
        if (i != own) schedule->fill(return_send[i], returns[i].data, static_cast<size_t>(said[i].bytes_in));
    return Err::success;
}

} // namespace zipmpi::proto::coll::two_level
