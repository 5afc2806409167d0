// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A window as protocols see it: a region of memory for each member of a team, how each is reached, and what
// the members share to synchronise. Epochs are core's business; here an operation is done, or under way, when
// its call returns.
//
// How a target is reached is found out at the first access, in find_reach(), and then stays:
//   direct    own memory, or memory that lies in the node segment's file: load, store, CPU atomics
//   kernel    private memory of another process: process_vm_readv and writev, several pieces in one call
//   device    on another host, by the network device alone (on_device.hpp); what it cannot do is a request
//   messages  none of these: requests that the target serves (messages.hpp)
// The first three need nothing from the target; the first two are complete at once.
//
// Threads: under the lane's lock, except peek(), place_in() and accumulate_row().
#pragma once

#include "proto/rma/combine.hpp"
#include "proto/team.hpp"
#include "transport/ucx/direct.hpp"
#include "wire/rma_message.hpp"

#include <memory>
#include <utility>
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

enum class Reach : uint8_t { unknown, direct, kernel, device, messages };

struct Target {
    // Written last when the reach is found out: who has read it may read base, size and unit without the
    // lock.
    std::atomic<Reach> known{Reach::unknown};
    std::byte* base = nullptr; // direct: where it is seen here; else in the target's memory
    uint64_t size = 0;
    int64_t unit = 1;
    bool shared = false; // all origins reach it directly, and may change it by instructions of the CPU
    bool alone = false;  // set by core: no other origin has access
    bool remote = false; // on another host: shares no memory with this rank
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

// An operation that fetches by messages, until its last reply.
struct Exchange {
    Data result;          // where fetched bytes go
    uint32_t waiting = 1; // replies, plus 1 while requests are made
    Err error = Err::success;
    void (*done)(Exchange&) = nullptr; // may destroy it

    void part_done() {
        if (--waiting == 0) done(*this);
    }
};

class Device;

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

    // Collective, before anything else: other hosts are reached by the device if all members have one.
    Err use_device(Device& device);

    [[nodiscard]] Team& team() const { return team_; }
    [[nodiscard]] bool spans_hosts() const { return spans_; }
    // Some target needs messages.
    [[nodiscard]] bool reaches_by_messages();
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

    // Operations. `there` lies in the target, its base is from place_in(). What fetches by messages is added
    // to the exchange that `make` gives; others never call it: the memory of the origin may be used again.
    struct Maker {
        Exchange* (*make)(void* maker); // null: no memory
        void* maker;
        bool at_once = false; // somebody waits for the exchange alone
    };
    [[nodiscard]] static std::byte* place_in(const Target& t, uint64_t offset) {
        return t.reach() >= Reach::device ? reinterpret_cast<std::byte*>(offset) : t.base + offset;
    }
    Err put(int rank, const Data& here, const Data& there, const Maker& maker);
    Err get(int rank, const Data& here, const Data& there, const Maker& maker);
    // result.bytes == 0: nothing is fetched
    Err accumulate(int rank, const Combine& c, const Data& here, const Data& result, const Data& there,
                   const Maker& maker);
    // Of a row of elements in a target that is seen here, at `there`; few enough to hold others up meanwhile.
    // False: look closer.
    bool accumulate_row(int rank, const Combine& c, const std::byte* in, std::byte* fetched, std::byte* there,
                        uint64_t bytes) {
        constexpr uint64_t most = uint64_t{64} << 10;
        const bool by_cpu = on_device_ == nullptr; // a device may have to do it even to the own memory
        return by_cpu && bytes <= most &&
               combine_row(c, {there, bytes}, in, fetched, guard_of(rank, peek(rank)));
    }
    Err compare_and_swap(int rank, const Swap& s, const void* compare, const void* value, void* fetched,
                         std::byte* there, const Maker& maker);

    // Everything that went to this target, or to all, has been done there.
    void flush(int rank) {
        if (messages_ != nullptr) [[unlikely]]
            flush_messages(rank);
    }
    void flush_all() {
        if (messages_ != nullptr) [[unlikely]]
            flush_messages(-1);
    }
    // Everything that comes from this target, or from all (-1), is there.
    void flush_local(int rank) {
        if (messages_ != nullptr) [[unlikely]]
            await_fetches(rank);
    }
    // An error of something that was under way, once.
    [[nodiscard]] Err take_failure() { return std::exchange(failure_, Err::success); }

    // On other hosts the lock is taken along with the first operation that needs it, and given back together
    // with the last: locks that nothing is done under cost nothing. Where devices do operations it is taken
    // at once: an operation cannot wait for it without holding other locks meanwhile.
    void lock(int rank, bool exclusive);
    void unlock(int rank, bool exclusive); // flushes
    // The same in two steps, for several targets at once: everything is settled after flush_all().
    void begin_unlock(int rank, bool exclusive);

    void post_to(int origin);
    void await_post(int target);
    void complete_to(int target); // after everything that went there
    [[nodiscard]] bool all_completed(uint32_t origins) const {
        return members_[team_.rank].completed.load(std::memory_order_seq_cst) >= origins;
    }
    void await_completes(uint32_t origins);
    void forget_completes(uint32_t origins) {
        members_[team_.rank].completed.fetch_sub(origins, std::memory_order_seq_cst);
    }

    // All that anybody has done to this member is there, and nobody begins before all have come here.
    Err fence();

    // Memory of a dynamic window. False: overlaps with what there is; not there.
    bool attach(uint64_t base, uint64_t size);
    bool detach(uint64_t base);
    [[nodiscard]] bool is_attached(uint64_t base, uint64_t size) const;

  private:
    struct Messages;
    struct OnDevice;
    struct Offers;
    enum class DeviceLocks : uint8_t { cpu, network, hybrid };
    struct Attached {
        uint64_t base;
        uint64_t size;
    };

    [[gnu::cold]] void find_reach(int rank, Target& t);
    [[nodiscard]] std::atomic<uint64_t>* posted(int rank) const;
    void await(bool (*condition)(const Window& w, int64_t argument), int64_t argument, int shown_peer);
    [[gnu::cold]] void flush_messages(int rank);
    [[gnu::cold]] void await_fetches(int rank);
    void take_post(int from);
    Err fence_by_counts();
    void meet_on_node();
    [[nodiscard]] Guard guard_of(int rank, const Target& t) const {
        return {t.alone ? nullptr : &members_[rank].combining, t.shared};
    }
    // Of the own memory, for what is done on behalf of others.
    [[nodiscard]] Guard guard_for_others() {
        return {&members_[team_.rank].combining, target(team_.rank).shared};
    }

    // on_device.cpp
    [[nodiscard]] DeviceLocks choose_locks() const;
    int device_end(int rank);
    void settle(int rank);
    [[gnu::cold]] static Err no_way(int rank);
    // device_access.cpp
    [[nodiscard]] uint64_t address_there(int rank, const std::byte* place) const;
    Err end_with(int end, const Maker& maker);
    std::byte* hold_result(int end, Exchange& exchange, uint64_t from, uint64_t bytes, const Maker& maker);
    Err put_by_device(int rank, const Data& here, const Data& there, const Maker& maker);
    Err get_by_device(int rank, const Data& here, const Data& there, const Maker& maker);
    [[nodiscard]] bool combines_by_device(int rank, const Combine& c, const Data& there) const;
    [[nodiscard]] bool swaps_by_device(int rank, const Swap& s, const std::byte* there) const;
    void order_accumulates(int rank, bool by_device);
    uint64_t change_word(int rank, int end, const Combine& c, uint64_t in, const transport::ucx::There& word);
    void change_by_device(int rank, int end, const Combine& c, const Data& here, const Data& result,
                          const Data& there);
    Err add_by_device(int rank, int end, const Combine& c, const Data& here, const Data& result,
                      const Data& there, const Maker& maker);
    Err accumulate_by_device(int rank, const Combine& c, const Data& here, const Data& result,
                             const Data& there, const Maker& maker);
    Err swap_by_device(int rank, const void* compare, const void* value, void* fetched, std::byte* there,
                       const Maker& maker);
    // device_lock.cpp
    [[nodiscard]] bool locks_by_device() const;
    void lock_near(int rank, bool exclusive);
    void unlock_near(int rank, bool exclusive);
    void lock_far(int rank, bool exclusive);
    void leave_as_reader(int rank);
    void unlock_far(int rank, bool exclusive);
    bool lock_by_request(int rank, bool exclusive);
    void lock_word(int rank, bool exclusive);
    void unlock_word(int rank, bool exclusive);
    void lock_by_cpu(int rank, bool exclusive);
    void unlock_by_cpu(int rank, bool exclusive);

    // access.cpp
    Err copied(transport::kcopy::Reader::Result result, int rank) const;
    Err move_by_kernel(int rank, const Target& t, bool write, const Data& here, const Data& there);
    Err accumulate_by_kernel(int rank, const Target& t, const Combine& c, const iovec* pieces, size_t count,
                             uint64_t bytes, const std::byte* in, std::byte* fetched);
    Err combine_chunk(int rank, const Combine& c, const iovec* pieces, size_t count, uint64_t bytes,
                      const std::byte* in, std::byte* fetched);
    Err swap_by_kernel(int rank, const Target& t, const Swap& s, const void* compare, const void* value,
                       void* fetched, std::byte* there);
    // requests.cpp
    [[gnu::cold]] static Err no_memory_for_requests();
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
    Scratch scratch_;
    Operation shown_;    // for reports
    bool spans_ = false; // several hosts
    uint32_t fences_ = 0;
    Err failure_ = Err::success;
    std::unique_ptr<OnDevice> on_device_; // null: there is none
    std::unique_ptr<Messages> messages_;
    std::unique_ptr<Offers> offers_; // null: nobody's memory is private, or the window spans hosts
};

} // namespace zipmpi::proto::rma
