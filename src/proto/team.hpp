// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Team: the ranks of a communicator as the protocols use them: this rank, the size, and the map from
// communicator ranks to ranks of the job.
#pragma once

#include "proto/p2p/operation.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace zipmpi::proto {

// Maps a rank of the communicator to a rank of the job. Strided ranks need no table; copies share a table.
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
    // Conservative comparison in O(1): false may also be returned for equal ranks in different tables.
    [[nodiscard]] bool same_as(const RankMap& other) const {
        return table_ == other.table_ &&
               (table_ != nullptr || (first_ == other.first_ && stride_ == other.stride_));
    }

    // Where its members are, for debuggers (core/tool/message_queues.hpp).
    struct Places {
        const int* first;
        const int* stride;
        const void* table;
    };
    [[nodiscard]] Places places() const { return {&first_, &stride_, &table_}; }

  private:
    int first_ = 0;
    int stride_ = 1;
    std::shared_ptr<const std::vector<int>> table_;
};

class ProgressEngine;
namespace coll {
class TeamCollBuffers;
struct Hierarchy;
} // namespace coll

// Owning pointer to per-team state (collective buffers, hierarchy). A copy of a team is a different team, so
// copies start empty.
template <class T>
class TeamLocal {
  public:
    TeamLocal() = default;
    TeamLocal(const TeamLocal&) noexcept {}
    TeamLocal(TeamLocal&& other) noexcept
        : value_(std::exchange(other.value_, nullptr)) {}
    TeamLocal& operator=(const TeamLocal& other) noexcept {
        if (this != &other) reset();
        return *this;
    }
    TeamLocal& operator=(TeamLocal&& other) noexcept {
        std::swap(value_, other.value_);
        return *this;
    }
    ~TeamLocal() {
        if (value_ != nullptr) reset();
    }
    [[nodiscard]] T* get() const { return value_; }
    void set(T* made) { value_ = made; }
    void reset() noexcept; // destroys the value

  private:
    T* value_ = nullptr;
};

struct Team {
    ProgressEngine* engine = nullptr;
    uint32_t context = 0; // even: point-to-point; context + 1: collectives
    int rank = 0;
    int size = 1;
    RankMap map;
    uint32_t collectives = 0; // started so far; equal on all members
    TeamLocal<coll::TeamCollBuffers> coll_buffers = {};
    TeamLocal<coll::Hierarchy> hierarchy = {};
    // Subset of a team for phases of hierarchical collectives (proto/coll/hierarchy.hpp): the members in one
    // cluster or on one node, or one member per node or cluster. Messages are matched and reported by ranks
    // of the whole team.
    enum class TeamScope : uint8_t {
        whole,
        cluster,
        node,
        across_nodes,
        across_clusters
    } scope = TeamScope::whole;
    RankMap parent_ranks = RankMap(); // of a subset: ranks in the whole team
};

// True if some members are processes of other jobs; the result is equal on all members.
bool has_external(const Team& t);

// Messages of a collective carry its sequence number as tag. The context of an intercommunicator's local
// group is also used by collectives within that group, which are counted separately; a bit marks the
// collectives between the groups.
inline constexpr uint32_t collective_tag_mask = 0x3fffffffU;
inline constexpr uint32_t intergroup_tag_bit = 0x40000000U;
inline int collective_tag(uint32_t sequence, bool intergroup = false) {
    return static_cast<int>((sequence & collective_tag_mask) | (intergroup ? intergroup_tag_bit : 0U));
}

// Initialize a new operation in place, ready to be started. Returning it by value would copy an object that
// has just been written field by field; that copy stalls until all earlier stores have retired, including
// stores to peers' memory.
inline void set_send_args(MessageArgs& op, const Team& t, const void* buffer, uint64_t bytes, int to,
                          int tag) {
    op.context = t.context;
    op.source = t.rank;
    op.tag = tag;
    op.peer = to;
    op.world_peer = t.map.world(to);
    op.buffer = static_cast<std::byte*>(const_cast<void*>(buffer));
    op.bytes = bytes;
}

inline void set_send(Operation& op, const Team& t, const void* buffer, uint64_t bytes, int to, int tag) {
    op.kind = Operation::Kind::send;
    set_send_args(op, t, buffer, bytes, to, tag);
}

// The arguments of a receive that is not from any_source.
[[gnu::always_inline]] inline void set_recv_from_rank(Operation& op, const Team& t, void* buffer,
                                                      uint64_t bytes, int from, int tag) {
    op.context = t.context;
    op.source = from;
    op.tag = tag;
    op.peer = from;
    op.world_peer = t.map.world(from);
    op.buffer = static_cast<std::byte*>(buffer);
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
