// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the members of a window share beside its memory: one block in the area of the boards.
//
//   one WindowMember per member | posted, one bit per pair of members
//
// A block of zeros is ready for use.
#pragma once

#include "wire/shm_layout.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace zipmpi::wire {

inline constexpr uint32_t lock_slots = 64;

// A fair lock for readers and writers (proto/rma/lock.hpp).
struct WindowLock {
    // 16 bits each: writers served, readers served, given out; then what becomes of a sleeper's turn
    alignas(line_size) std::atomic<uint64_t> tickets;
    // by ticket % lock_slots: 1 + local index of the rank that waits with it
    alignas(line_size) std::atomic<uint16_t> waiters[lock_slots];
};
static_assert(sizeof(WindowLock) == 3 * line_size);

// A fair lock for readers and writers whose members are network devices (proto/rma/network_lock.hpp). Only
// `given` and, by readers that leave, `writers` are changed by atomics; everything else is written by whoever
// has the sole right to.
struct NetworkLock {
    alignas(line_size) std::atomic<uint64_t> given; // tickets
    std::atomic<uint64_t> writers;                  // tickets that have left
    std::atomic<uint64_t> readers;                  // tickets that let the next reader in
    std::atomic<uint64_t> kept; // 1 + the ticket that the target's node keeps for its own lock; 0: none
    // Of the node alone, by its CPUs:
    std::atomic<uint64_t> next_ticket; // that a rank of the node draws if nobody else has come meanwhile
    std::atomic<uint32_t> node_run;    // locks in a row by ranks of the node, without anybody else between
    std::atomic<uint32_t> network_run; // requests for the lock in a row by ranks of other nodes
};
static_assert(sizeof(NetworkLock) == line_size && offsetof(NetworkLock, kept) == 24 &&
              offsetof(NetworkLock, readers) == offsetof(NetworkLock, writers) + 8);

// What others do to one member. In a window over several hosts each of them has a block; there only its own
// members are filled in.
struct WindowMember {
    WindowLock lock; // MPI_Win_lock with this member as target
    alignas(
        line_size) std::atomic<uint32_t> combining; // 1: somebody changes the member's memory step by step
    alignas(
        line_size) std::atomic<uint32_t> completed; // origins that are through with what the member posted
    std::atomic<uint32_t>
        fenced; // fences in which the member has got everything (windows over several hosts)
    // Of an origin that would like the member to do it: place of its Offer << 16 | 1 + local index; 0: none
    std::atomic<uint64_t> offer;
    NetworkLock network_lock;
};
static_assert(sizeof(WindowMember) == 6 * line_size);

// Pieces of a target's private memory and their bytes, offered to the target to move them, in memory of the
// origin that both see (proto/rma/offer.hpp).
struct OfferRun { // pieces at equal distances
    uint64_t address;
    uint64_t length; // of each
    int64_t stride;
    uint64_t count;
};
enum class OfferState : uint32_t { open, done, refused };
inline constexpr uint32_t offer_runs = 1024;
struct Offer {
    alignas(line_size) std::atomic<OfferState> state;
    uint32_t writes; // 1: into the pieces
    uint64_t place;  // of the packed bytes in the origin's private memory; 0: below
    uint32_t bytes;  // of all pieces
    uint32_t runs;
    OfferRun run[offer_runs]; // most have one, which comes with the first line
    alignas(line_size) std::byte data[(uint32_t{32} << 10) - line_size];
};
static_assert(sizeof(Offer) == uint64_t{64} << 10 && offsetof(Offer, run) == 24);

struct WindowGeometry {
    uint32_t members = 0;

    [[nodiscard]] constexpr uint32_t posted_words() const { return (members + 63) / 64; }
    // std::atomic<uint64_t>[posted_words()] of a member: who has posted to it
    [[nodiscard]] constexpr uint64_t posted_offset(uint32_t member) const {
        return uint64_t{members} * sizeof(WindowMember) +
               uint64_t{member} * posted_words() * sizeof(uint64_t);
    }
    [[nodiscard]] constexpr uint64_t total_bytes() const { return posted_offset(members); }
};

} // namespace zipmpi::wire
