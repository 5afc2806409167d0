// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Blocks of different sizes between ranks in several clusters: members tell the leader of their cluster what
// they have and what they expect, leaders exchange one message per pair of clusters (bundles.hpp), members
// get theirs. 3 N + A, and four copies of what crosses; within a cluster, and what is long, goes straight.
#include "proto/coll/two_level/two_level.hpp"

#include "base/param.hpp"
#include "proto/coll/algorithms.hpp"
#include "proto/coll/two_level/bundles.hpp"

#include <vector>

namespace zipmpi::proto::coll::two_level {
namespace {

Param<int64_t> longest{
    "coll.bundled",
    128 << 10, // one frame of the bridge
    {0, INT64_MAX},
    Unit::bytes,
    Level::tuner,
    Scope::all_equal,
    "blocks between clusters in MPI_Alltoall, MPI_Alltoallv, MPI_Gatherv and their kin: up to "
    "so many bytes they share a message with others to the same cluster"};

// Who takes part: with a root, it leads its cluster, whose other members have nothing to do with others.
struct Roles {
    int leader = 0;
    int root = -1;
    bool alone = false;
};

class Exchange {
  public:
    Exchange(Schedule& s, Team& t, Levels& l, const Roles& roles, Items out, Items in)
        : s_(s)
        , t_(t)
        , l_(l)
        , roles_(roles)
        , leads_(l.place() == roles.leader)
        , out_(out)
        , in_(in) {
        for (const Item& i : out) add(i, bundled_out_, said_.items_out, said_.bytes_out);
        for (const Item& i : in) add(i, bundled_in_, said_.items_in, said_.bytes_in);
    }

    void build() {
        if (roles_.alone && !leads_)
            go_straight();
        else
            leads_ ? lead() : follow();
    }

  private:
    [[nodiscard]] bool bundled(const Item& i) const {
        return l_.nodes.node_of(i.peer) != l_.my_node && are_bundled(i.block.bytes);
    }
    void add(const Item& i, std::vector<Item>& list, uint64_t& items, uint64_t& bytes) const {
        if (!bundled(i) || i.block.bytes == 0) return;
        list.push_back(i);
        ++items;
        bytes += i.block.bytes;
    }
    void go_straight() {
        for (const Item& i : in_)
            if (!bundled(i)) s_.recv(t_, i.block.data, i.block.bytes, i.peer);
        for (const Item& i : out_)
            if (!bundled(i)) s_.send(t_, i.block.data, i.block.bytes, i.peer);
    }
    void fill_pack(std::byte* pack) {
        auto* entry = reinterpret_cast<Entry*>(pack);
        for (const Item& i : bundled_out_) *entry++ = {i.peer, i.block.bytes};
        for (const Item& i : bundled_in_) *entry++ = {i.peer, i.block.bytes};
        std::byte* data = pack + said_.list_bytes();
        for (const Item& i : bundled_out_) {
            s_.copy(data, i.block.data, i.block.bytes);
            data += i.block.bytes;
        }
    }
    void hand_out(const std::byte* data) {
        for (const Item& i : bundled_in_) {
            s_.copy(i.block.data, data, i.block.bytes);
            data += i.block.bytes;
        }
    }

    void follow() {
        auto* said = s_.make<Announcement>(said_);
        std::byte* pack = s_.scratch(said_.pack_bytes());
        std::byte* back = s_.scratch(static_cast<size_t>(said_.bytes_in));
        if (said == nullptr || pack == nullptr || back == nullptr) return;
        coll::gather(s_, l_.node, said, nullptr, sizeof *said, roles_.leader);
        fill_pack(pack);
        if (said_.pack_bytes() != 0) s_.send(l_.node, pack, said_.pack_bytes(), roles_.leader);
        go_straight();
        if (said_.bytes_in != 0) s_.recv(l_.node, back, static_cast<size_t>(said_.bytes_in), roles_.leader);
        s_.wait();
        hand_out(back);
    }

    void lead() {
        Hub* hub = Hub::make(s_, t_, l_, roles_.leader, roles_.alone);
        if (hub == nullptr) return;
        hub->said[hub->own] = said_;
        Room& pack = hub->packs[hub->own];
        Room& back = hub->returns[hub->own];
        if (!pack.make(s_, said_.pack_bytes()) || !back.make(s_, static_cast<size_t>(said_.bytes_in))) return;
        if (!roles_.alone) coll::gather(s_, l_.node, nullptr, hub->said, sizeof(Announcement), roles_.leader);
        s_.wait();
        fill_pack(pack.data);
        hub->add_steps_before(l_.across(t_, 0, roles_.root));
        go_straight();
        s_.wait();
        hub->add_steps_after();
        hand_out(back.data);
    }

    Schedule& s_;
    Team& t_;
    Levels& l_;
    Roles roles_;
    bool leads_;
    Items out_;
    Items in_;
    std::vector<Item> bundled_out_;
    std::vector<Item> bundled_in_;
    Announcement said_;
};

Roles with_root(const Levels& l, int root) {
    return {leader_with(l, root), root, l.nodes.node_of(root) == l.my_node};
}

// One item for each other rank.
std::vector<Item> items_of(const Team& t, Blocks blocks) {
    std::vector<Item> items;
    for (int k = 1; k < t.size && !blocks.empty(); ++k) {
        const int peer = (t.rank + k) % t.size;
        items.push_back({peer, blocks[static_cast<size_t>(peer)]});
    }
    return items;
}

} // namespace

bool are_bundled(size_t block) { return static_cast<int64_t>(block) <= longest.get(); }

void exchange(Schedule& s, Team& t, Levels& l, Items out, Items in) {
    Exchange(s, t, l, {}, out, in).build();
}

void gatherv(Schedule& s, Team& t, Levels& l, Block mine, Blocks all, int root) {
    const Item own{root, mine};
    Exchange(s, t, l, with_root(l, root), t.rank == root ? Items{} : Items{&own, 1},
             t.rank == root ? items_of(t, all) : std::vector<Item>{})
        .build();
}

void scatterv(Schedule& s, Team& t, Levels& l, Blocks all, Block mine, int root) {
    const Item own{root, mine};
    Exchange(s, t, l, with_root(l, root), t.rank == root ? items_of(t, all) : std::vector<Item>{},
             t.rank == root ? Items{} : Items{&own, 1})
        .build();
}

// An exchange of nothing needs no message: both sides know.
void alltoallv(Schedule& s, Team& t, Levels& l, Blocks send, Blocks recv) {
    std::vector<Item> out = items_of(t, send);
    std::vector<Item> in = items_of(t, recv);
    std::erase_if(out, [](const Item& i) { return i.block.bytes == 0; });
    std::erase_if(in, [](const Item& i) { return i.block.bytes == 0; });
    Exchange(s, t, l, {}, out, in).build();
    const auto own = static_cast<size_t>(t.rank);
    s.copy(recv[own].data, send[own].data, recv[own].bytes);
}

} // namespace zipmpi::proto::coll::two_level
