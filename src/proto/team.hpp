// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The ranks of a communicator as the protocols see them: who I am, how many we are, and where a rank lives.
#pragma once

#include "proto/p2p/operation.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace zipmpi::proto {

// Rank in the communicator -> rank in the job. Ranks at equal distances need no table; others share one.
class RankMap {
  public:
    explicit RankMap(int first = 0, int stride = 1)
        : first_(first)
        , stride_(stride) {}
    explicit RankMap(std::shared_ptr<const std::vector<int>> table)
        : table_(std::move(table)) {}
    [[nodiscard]] int world(int rank) const {
        return table_ == nullptr ? first_ + stride_ * rank : (*table_)[static_cast<size_t>(rank)];
    }
    [[nodiscard]] bool strided() const { return table_ == nullptr; }
    [[nodiscard]] int stride() const { return stride_; } // if strided
    // The same ranks for certain, without looking at them.
    [[nodiscard]] bool same_as(const RankMap& other) const {
        return table_ == other.table_ &&
               (table_ != nullptr || (first_ == other.first_ && stride_ == other.stride_));
    }

  private:
    int first_ = 0;
    int stride_ = 1;
    std::shared_ptr<const std::vector<int>> table_;
};

class Lane;
namespace coll {
class Boards;
struct Levels;
} // namespace coll

// What a team has made for itself: boards in shared memory, a picture of its nodes. A copy of a team is
// another team: it has none yet.
template <class T>
class OfOneTeam {
  public:
    OfOneTeam() = default;
    OfOneTeam(const OfOneTeam&) noexcept {}
    OfOneTeam(OfOneTeam&& other) noexcept
        : made_(std::exchange(other.made_, nullptr)) {}
    OfOneTeam& operator=(const OfOneTeam& other) noexcept {
        if (this != &other) reset();
        return *this;
    }
    OfOneTeam& operator=(OfOneTeam&& other) noexcept {
        std::swap(made_, other.made_);
        return *this;
    }
    ~OfOneTeam() {
        if (made_ != nullptr) reset();
    }
    [[nodiscard]] T* get() const { return made_; }
    void set(T* made) { made_ = made; }
    void reset() noexcept; // gives it up

  private:
    T* made_ = nullptr;
};

struct Team {
    Lane* lane = nullptr;
    uint32_t context = 0; // even: point-to-point; the next, odd one: collectives
    int rank = 0;
    int size = 1;
    RankMap map;
    uint32_t collectives = 0; // started so far; the same on all members
    OfOneTeam<coll::Boards> boards = {};
    OfOneTeam<coll::Levels> levels = {};
    // A part of a team, for phases of its collectives (proto/coll/levels.hpp): its members in one cluster or
    // on one node, or one member of each node or cluster. Messages are matched and reported by the ranks in
    // the whole team.
    enum class Part : uint8_t { whole, cluster, node, across, across_clusters } part = Part::whole;
    RankMap in_whole = RankMap(); // of a part: ranks in the whole team
};

// Some members are processes of other jobs. If so for one member, it is for all.
bool has_foreign(const Team& t);

// The tag of a collective's messages is its number. On the context of an intercommunicator's local group
// there are collectives of that group alone as well, with a count of their own: those between the groups are
// told apart by a bit.
inline constexpr uint32_t collective_numbers = 0x3fffffffU;
inline constexpr uint32_t between_groups = 0x40000000U;
inline int collective_tag(uint32_t sequence, bool as_a_part_between_groups = false) {
    return static_cast<int>((sequence & collective_numbers) |
                            (as_a_part_between_groups ? between_groups : 0U));
}

// Make a new operation one on this team, ready to be started. In place, because a copy of an object that has
// just been written field by field waits until all earlier stores are carried out, those to peers' memory
// too.
inline void set_send(Operation& op, const Team& t, const void* buffer, uint64_t bytes, int to, int tag) {
    op.kind = Operation::Kind::send;
    op.context = t.context;
    op.source = t.rank;
    op.tag = tag;
    op.peer = to;
    op.world_peer = t.map.world(to);
    op.buffer = static_cast<std::byte*>(const_cast<void*>(buffer));
    op.bytes = bytes;
}

inline void set_recv(Operation& op, const Team& t, void* buffer, uint64_t bytes, int from, int tag) {
    op.kind = Operation::Kind::recv;
    op.context = t.context;
    op.source = from;
    op.tag = tag;
    op.peer = from;
    op.world_peer = from == any_source ? -1 : t.map.world(from);
    op.buffer = static_cast<std::byte*>(buffer);
    op.bytes = bytes;
}

inline Operation make_send(const Team& t, const void* buffer, uint64_t bytes, int to, int tag) {
    Operation op;
    set_send(op, t, buffer, bytes, to, tag);
    return op;
}

inline Operation make_recv(const Team& t, void* buffer, uint64_t bytes, int from, int tag) {
    Operation op;
    set_recv(op, t, buffer, bytes, from, tag);
    return op;
}

} // namespace zipmpi::proto
