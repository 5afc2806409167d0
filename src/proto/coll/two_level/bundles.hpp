// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the leader of a cluster does in an exchange (exchange.cpp): its members say what they have for ranks
// of other clusters and what they expect from there; all that goes to one cluster leaves in one message, a
// bundle, and what comes is handed out. Sizes are known only then, so messages are filled in while the
// schedule runs.
//
// In a bundle items are sorted by sender, then by receiver, then in the order of their lists. Both leaders
// find the same, and no sizes need to be sent between clusters.
//
// Threads: as schedules.
#pragma once

#include "proto/coll/coll.hpp"
#include "proto/coll/levels.hpp"

namespace zipmpi::proto::coll::two_level {

// What a member says first.
struct Announcement {
    uint64_t items_out = 0;
    uint64_t items_in = 0;
    uint64_t bytes_out = 0;
    uint64_t bytes_in = 0;

    [[nodiscard]] size_t list_bytes() const;
    [[nodiscard]] size_t pack_bytes() const { return list_bytes() + static_cast<size_t>(bytes_out); }
};

// What it says then, its pack: one entry for each item out, one for each item in, and the bytes that go out.
// An item of a few bytes is what is common, so one message has it all.
struct Entry {
    int64_t peer; // rank in the team
    uint64_t bytes;
};

inline size_t Announcement::list_bytes() const {
    return static_cast<size_t>(items_out + items_in) * sizeof(Entry);
}

// Memory of a schedule that is kept from run to run.
struct Room {
    std::byte* data = nullptr;
    size_t bytes = 0;
    bool make(Schedule& s, size_t wanted);
};

// All of it lives in memory of the schedule.
class Hub {
  public:
    Schedule* schedule;
    Team* team;
    const Levels* levels;
    int members;         // that take part: all of the cluster, or the leader alone
    int first_place;     // of these
    int own;             // the leader among them
    Announcement* said;  // by member
    Room* packs;         // by member; that of the leader is filled by itself
    Room* returns;       // by member: the bytes it gets, in the order of its list
    Room* bundles_out;   // by cluster
    Room* bundles_in;    // by cluster
    size_t* bytes_in;    // by cluster
    uint32_t* pack_recv; // messages, by member and by cluster
    uint32_t* return_send;
    uint32_t* bundle_send;
    uint32_t* bundle_recv;

    static Hub* make(Schedule& s, Team& t, const Levels& l, int leader, bool alone);
    // The steps of the leader: between announcements and bundles, and what follows these.
    void add_steps_before(const Team& leaders);
    void add_steps_after();

  private:
    struct Piece;
    [[nodiscard]] int rank_of(int member) const;
    [[nodiscard]] int clusters() const { return levels->nodes.count(); }
    [[nodiscard]] std::vector<Piece> pieces(bool out) const;
    Err expect_packs();
    Err sort_out();
    Err sort_in();
};

} // namespace zipmpi::proto::coll::two_level
