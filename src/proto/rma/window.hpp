// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A window as protocols see it: a region of memory for each member of a team, how each is reached, and what
// the members share to synchronise. Epochs are core's business; here an operation is done, or under way, when
// its call returns.
//
// How a target is reached is found out at the first access and then stays:
//   direct    own memory, or memory that lies in the node segment's file: load, store, CPU atomics
//   kernel    private memory of another process: process_vm_readv and writev, several pieces in one call
//   messages  neither: requests that the target serves whenever it makes progress (server.cpp)
// The first two need nothing from the target and are complete at once.
//
// Threads: under the lane's lock, except peek() and place_in(), swap_element() and steps on direct targets.
#pragma once

#include "proto/rma/combine.hpp"
#include "proto/team.hpp"
#include "wire/rma_message.hpp"

#include <memory>
#include <vector>

namespace zipmpi::proto::rma {

// A member's part, as it tells the others.
struct Region {
    uint64_t base; // address in the member's memory
    uint64_t size;
    int64_t unit;   // bytes of one displacement
    uint64_t place; // in the arena of `owner`, plus 1; 0: private memory
    int32_t owner;  // member
    uint32_t reserved;
};

enum class Reach : uint8_t { unknown, direct, kernel, messages };

struct Target {
    // Written last when the reach is found out: who has read it may read base, size and unit without the
    // lock.
    std::atomic<Reach> known{Reach::unknown};
    std::byte* base = nullptr; // direct: where it is seen here; else in the target's memory
    uint64_t size = 0;
    int64_t unit = 1;
    bool shared = false;    // all origins reach it directly
    bool alone = false;     // set by core: no other origin has access
    bool open = false;      // set by core: in an access epoch
    uint32_t under_way = 0; // requests without a reply
    transport::Peer peer = 0;
    std::byte* mapped = nullptr; // to be unmapped, `size` bytes

    // pairs with set_reach()
    [[nodiscard]] Reach reach() const { return known.load(std::memory_order_acquire); }
    void set_reach(Reach reach) { known.store(reach, std::memory_order_release); }
};

// Elements in memory. Without a layout: bytes in a row.
struct Data {
    std::byte* base = nullptr; // of a target: see place_in()
    const layout::Program* layout = nullptr;
    int64_t elements = 0;
    uint64_t bytes = 0;
};

// An operation that goes by messages, until its last reply.
struct Exchange {
    Data result;          // where fetched bytes go
    uint32_t waiting = 1; // replies, plus 1 while requests are made
    Err error = Err::success;
    void (*done)(Exchange&) = nullptr; // may destroy it
};

class Window {
  public:
    // How a peer's code for an operation is understood.
    struct Codes {
        bool (*combine)(uint32_t code, Combine& c);
        bool (*swap)(uint32_t code, Swap& s);
    };
    static constexpr uint64_t everywhere = UINT64_MAX; // the size of a dynamic window

    // control: offset in the node segment, zeroed. Regions of all members.
    Window(Team& team, uint64_t control, const std::vector<Region>& regions, const Codes& codes);
    ~Window();
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    [[nodiscard]] Team& team() const { return team_; }
    // With its reach not found out yet.
    [[nodiscard]] Target& peek(int rank) { return targets_[static_cast<size_t>(rank)]; }
    [[nodiscard]] Target& target(int rank) {
        Target& t = peek(rank);
        if (t.reach() == Reach::unknown) [[unlikely]]
            find_reach(rank, t);
        return t;
    }
    // A target whose memory is seen here already.
    void set_direct(int rank, std::byte* base);

    // Operations. `there` lies in the target, its base is from place_in(). What goes by messages is added to
    // the exchange that `make` gives; others never call it.
    struct Maker {
        Exchange* (*make)(void* maker); // null: no memory
        void* maker;
    };
    [[nodiscard]] static std::byte* place_in(const Target& t, uint64_t offset) {
        return t.reach() == Reach::messages ? reinterpret_cast<std::byte*>(offset) : t.base + offset;
    }
    Err put(int rank, const Data& here, const Data& there, const Maker& maker);
    Err get(int rank, const Data& here, const Data& there, const Maker& maker);
    // result.bytes == 0: nothing is fetched
    Err accumulate(int rank, const Combine& c, const Data& here, const Data& result, const Data& there,
                   const Maker& maker);
    Err compare_and_swap(int rank, const Swap& s, const void* compare, const void* value, void* fetched,
                         std::byte* there, const Maker& maker);

    // Everything that went to this target, or to all, has been done there.
    void flush(int rank) {
        if (peek(rank).under_way != 0) [[unlikely]]
            await_replies(rank);
    }
    void flush_all() {
        if (under_way_ != 0) [[unlikely]]
            await_replies(-1);
    }

    void lock(int rank, bool exclusive);
    void unlock(int rank, bool exclusive);

    void post_to(int origin);
    void await_post(int target);
    void complete_to(int target);
    [[nodiscard]] bool all_completed(uint32_t origins) const {
        return members_[team_.rank].completed.load(std::memory_order_seq_cst) >= origins;
    }
    void await_completes(uint32_t origins);
    void forget_completes(uint32_t origins) {
        members_[team_.rank].completed.fetch_sub(origins, std::memory_order_seq_cst);
    }

    // Memory of a dynamic window. False: overlaps with what there is; not there.
    bool attach(uint64_t base, uint64_t size);
    bool detach(uint64_t base);
    [[nodiscard]] bool is_attached(uint64_t base, uint64_t size) const;

  private:
    struct Server;
    struct Attached {
        uint64_t base;
        uint64_t size;
    };

    [[gnu::cold]] void find_reach(int rank, Target& t);
    [[nodiscard]] std::atomic<uint64_t>* posted(int rank) const;
    void await(bool (*condition)(const Window& w, int64_t argument), int64_t argument, int shown_peer);
    [[gnu::cold]] void await_replies(int rank);
    [[nodiscard]] Guard guard_of(int rank, const Target& t) const {
        return {t.alone ? nullptr : &members_[rank].combining, t.shared};
    }

    // access.cpp
    Err copied(transport::kcopy::Reader::Result result, int rank) const;
    Err move_by_kernel(int rank, const Target& t, bool write, const Data& here, const Data& there);
    Err accumulate_by_kernel(int rank, const Target& t, const Combine& c, const iovec* pieces, size_t count,
                             uint64_t bytes, const std::byte* in, std::byte* fetched);
    Err combine_chunk(int rank, const Combine& c, const iovec* pieces, size_t count, uint64_t bytes,
                      const std::byte* in, std::byte* fetched);
    Err swap_by_kernel(int rank, const Target& t, const Swap& s, const void* compare, const void* value,
                       void* fetched, std::byte* there);
    // server.cpp
    Err send_requests(int rank, wire::RmaKind kind, const Combine* c, const Data& here, const Data& there,
                      const Data& result, const Maker& maker);
    Err send_swap(int rank, const Swap& s, const void* compare, const void* value, void* fetched,
                  std::byte* there, const Maker& maker);

    Team& team_;
    uint64_t control_;
    const std::vector<Region>& regions_;
    Codes codes_;
    wire::WindowMember* members_;
    std::vector<Target> targets_;
    std::vector<Attached> attached_;
    uint32_t under_way_ = 0;
    Scratch scratch_;
    Operation shown_; // for reports
    std::unique_ptr<Server> server_;
};

} // namespace zipmpi::proto::rma
