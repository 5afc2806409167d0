// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The node segment: one memory file per job and node. Offsets only, no pointers. It is made by the launcher,
// or by the lowest rank of the node under a foreign launcher; a segment of zeros with a filled header is
// ready for use, so no rank has to wait for another before it sends.
//
//   header | world ranks, places, nodes | rank blocks | rings, n x n pages, sparse | cells, n pools, sparse |
//   contexts, sparse | boards, sparse | addresses, sparse | failed ranks, sparse | revoked contexts, sparse |
//   rows of the communication matrix, sparse
//
// Header, world ranks, places and rank blocks are reserved by the maker; a ring or cell is reserved by its
// producer on first use, a page of contexts by who draws from it: memory follows use.
#pragma once

#include "base/counters.hpp"
#include "base/recorder_layout.hpp"
#include "wire/board_layout.hpp"
#include "wire/net_layout.hpp"
#include "wire/place_layout.hpp"
#include "wire/shm_layout.hpp"
#include "wire/traffic_layout.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace zipmpi::wire {

inline constexpr uint64_t segment_magic = 0x31474553504d5a49; // "IZMPSEG1"
inline constexpr uint32_t segment_version = 9;
inline constexpr uint32_t max_local_ranks = 4096;
inline constexpr uint32_t contexts = 1U << 16;        // ids of communicators that a node can have at a time
inline constexpr uint64_t boards_per_rank = 4U << 20; // address space for boards; memory follows use

// What the launcher tells all ranks of a job, in one order on all nodes: which ranks are gone, and on which
// communicators nothing is to be done any more. Written by the launcher alone.
struct FaultNews {
    uint32_t keeps_going;                            // a rank that dies does not end the job
    alignas(line_size) std::atomic<uint32_t> number; // changes with everything below: one load tells
    std::atomic<uint32_t> failed;                    // ranks in the list of failed ones
    std::atomic<uint32_t> revoked;                   // contexts in the list of revoked ones
};

struct SegmentHeader {
    uint64_t magic;
    uint32_t version;
    uint32_t local_ranks; // n
    uint32_t world_size;
    uint32_t cell_bytes; // payload of one cell, a multiple of the page size less one line
    uint32_t cells_per_rank;
    // of the whole job on this node: more ranks than this is oversubscription; grows while bound ranks join
    std::atomic<uint32_t> usable_cpus;
    uint64_t total_bytes;
    uint64_t world_ranks_offset; // uint32_t[n]: local index -> rank in MPI_COMM_WORLD
    uint64_t blocks_offset;
    uint64_t rings_offset;
    uint64_t cells_offset;
    char job_id[64];
    std::atomic<uint32_t> context_hint; // below it no context is likely to be free
    std::atomic<uint32_t> fatal_errors; // ranks that ended the job by an error; the first one prints it
    NodeFacts facts;
    BoardArea boards;
    uint32_t nodes;                      // of the job
    uint32_t node;                       // the number of this one
    uint32_t spread;                     // ranks of the job if there are several nodes, else 0
    std::atomic<uint32_t> devices_state; // DevicesState
    char devices[256];                   // that lead to the other hosts, separated by commas
    char devices_story[768];             // how that was found out
    uint8_t job_key[job_key_bytes];      // proves to ranks on other hosts that one is of this job
    FaultNews news;
    // Threads that sleep until they are woken. Who wakes one takes it off: it may be long before it gets a
    // CPU.
    alignas(line_size) std::atomic<uint32_t> asleep;
};
static_assert(sizeof(SegmentHeader) <= page_size);

enum class DevicesState : uint32_t { not_known = 0, known = 1, none = 2 };
enum class RankState : uint32_t { absent = 0, running = 1, finalized = 2, aborted = 3, failed = 4 };

// What the members of a communicator have agreed on, for one of them: written by the launcher, taken by the
// rank.
struct Decision {
    std::atomic<uint32_t> filled; // 0: free
    uint32_t context;             // of the communicator, and which agreement on it
    uint32_t number;
    uint32_t flags;  // of all that took part, bit by bit
    uint32_t value;  // the largest
    uint32_t failed; // so many ranks had failed when it was made
};
inline constexpr uint32_t decision_slots = 4; // of a rank; the launcher keeps what finds none free

// A message that its receiver copies, with the help of its sender if that has time: the receiver takes chunks
// from the front, the sender from the back, so that each has the same part of a buffer that is used again in
// its cache.
struct JointCopy {
    alignas(line_size)
        std::atomic<uint64_t> taken; // number of the copy, 32 bits; chunks taken: 16 front, 16 back
    std::atomic<uint32_t> helped;    // chunks that the sender has written
    std::atomic<uint32_t> refused;   // 1 + a chunk that it took and could not write
};
inline constexpr uint32_t joint_copies = 4; // that a rank can have under way

// What a rank shows to its node. Each line has one kind of writer.
struct RankBlock {
    // written by the rank itself
    alignas(line_size) std::atomic<uint32_t> state; // RankState
    std::atomic<int32_t> pid;
    std::atomic<int32_t> abort_code;
    // the rank sleeps on descriptors; this names the socket that wakes it. 0: it sleeps on `wake` below
    std::atomic<uint64_t> wake_socket;
    // a number at an address in the rank's own memory: whoever can read it there can read the rank's messages
    std::atomic<uint64_t> probe_address;
    std::atomic<uint64_t> probe_number; // its lowest bit is 1: the rank runs under valgrind
    std::atomic<uint32_t> peers_met;    // lines in its row of the communication matrix
    // where the rank sleeps: it counts itself in `sleepers`, looks once more, and waits for `wake` to change
    alignas(line_size) std::atomic<uint32_t> wake;
    std::atomic<uint32_t> sleepers;
    // of a process with a wake_socket: threads that sleep on `wake`, and on descriptors (one at most)
    std::atomic<uint32_t> futex_sleepers;
    std::atomic<uint32_t> descriptor_sleepers;
    std::atomic<uint32_t>
        wants_cell; // set by the rank when its pool is exhausted: whoever frees a cell wakes it
    // once 1, it stays: before it sleeps this rank executes a barrier on behalf of all others, so senders
    // that take part in such barriers need none of their own
    std::atomic<uint32_t> fences_for_all;
    // one bit per local rank: set by a sender after it has put lines into its ring to this rank
    alignas(line_size) std::atomic<uint64_t> arrivals[max_local_ranks / 64];
    // one bit per local rank, written by the rank itself and rarely: it looks at that sender's ring directly,
    // so the sender need not set its bit in arrivals
    alignas(line_size) std::atomic<uint64_t> watched[max_local_ranks / 64];
    JointCopy joint[joint_copies]; // messages that this rank receives
    alignas(line_size) Decision decisions[decision_slots];
    std::atomic<uint32_t>
        more_decisions; // 1: the launcher has found no free slot; the rank tells it when it takes one
    alignas(line_size) Counters counters;
    alignas(page_size) Recorder recorder;
};
static_assert(sizeof(RankBlock) == 2 * page_size);

// Where a rank on another host is reached, as it has published it; filled by the first rank of this node that
// asks.
struct AddressSlot {
    std::atomic<uint32_t> state; // AddressState
    uint32_t bytes;
    std::byte address[1016];
};
enum class AddressState : uint32_t { empty = 0, being_filled = 1, ready = 2 };
static_assert(sizeof(AddressSlot) == 1024);

inline constexpr uint64_t arena_bytes = uint64_t{1} << 40; // of one rank; a place in a file, not memory

// Where things are, from the numbers that decide it.
struct Geometry {
    uint32_t local_ranks = 0;
    uint32_t cell_bytes = 0;
    uint32_t cells_per_rank = 0;
    uint32_t spread = 0; // see SegmentHeader

    [[nodiscard]] constexpr uint64_t world_ranks_offset() const { return page_size; }
    [[nodiscard]] constexpr uint64_t places_offset() const {
        return (world_ranks_offset() + uint64_t{local_ranks} * sizeof(uint32_t) + sizeof(PlaceEntry) - 1) /
               sizeof(PlaceEntry) * sizeof(PlaceEntry);
    }
    // uint32_t[spread]: rank in MPI_COMM_WORLD -> number of its node
    [[nodiscard]] constexpr uint64_t nodes_offset() const {
        return places_offset() + local_ranks * sizeof(PlaceEntry);
    }
    [[nodiscard]] constexpr uint64_t blocks_offset() const {
        return (nodes_offset() + uint64_t{spread} * sizeof(uint32_t) + page_size - 1) / page_size * page_size;
    }
    [[nodiscard]] constexpr uint64_t rings_offset() const {
        return blocks_offset() + uint64_t{local_ranks} * sizeof(RankBlock);
    }
    [[nodiscard]] constexpr uint64_t ring_offset(uint32_t to, uint32_t from) const {
        return rings_offset() + (uint64_t{to} * local_ranks + from) * sizeof(Ring);
    }
    [[nodiscard]] constexpr uint64_t cells_offset() const {
        return rings_offset() + uint64_t{local_ranks} * local_ranks * sizeof(Ring);
    }
    [[nodiscard]] constexpr uint64_t cell_stride() const { return cell_bytes + line_size; }
    [[nodiscard]] constexpr uint64_t cell_offset(uint32_t owner, uint32_t cell) const {
        return cells_offset() + (uint64_t{owner} * cells_per_rank + cell) * cell_stride();
    }
    // uint32_t[contexts]: how many processes hold the context, 0: free
    [[nodiscard]] constexpr uint64_t contexts_offset() const {
        return cells_offset() + uint64_t{local_ranks} * cells_per_rank * cell_stride();
    }
    [[nodiscard]] constexpr uint64_t boards_offset() const {
        return contexts_offset() + uint64_t{contexts} * sizeof(uint32_t);
    }
    [[nodiscard]] constexpr uint64_t boards_bytes() const { return uint64_t{local_ranks} * boards_per_rank; }
    [[nodiscard]] constexpr uint64_t addresses_offset() const { return boards_offset() + boards_bytes(); }
    // uint32_t[]: ranks in MPI_COMM_WORLD, in the order in which they failed
    [[nodiscard]] constexpr uint64_t failed_offset() const {
        return addresses_offset() + uint64_t{spread} * sizeof(AddressSlot);
    }
    [[nodiscard]] constexpr uint32_t world_ranks() const { return spread != 0 ? spread : local_ranks; }
    // uint32_t[contexts]: contexts of communicators, in the order in which they were revoked
    [[nodiscard]] constexpr uint64_t revoked_offset() const {
        return failed_offset() +
               (uint64_t{world_ranks()} * sizeof(uint32_t) + line_size - 1) / line_size * line_size;
    }
    // PeerTraffic[world_ranks()] of each rank of the node, at the start of a page
    [[nodiscard]] constexpr uint64_t traffic_bytes() const {
        return (uint64_t{world_ranks()} * sizeof(PeerTraffic) + page_size - 1) / page_size * page_size;
    }
    [[nodiscard]] constexpr uint64_t traffic_offset(uint32_t local) const {
        const uint64_t end = revoked_offset() + uint64_t{contexts} * sizeof(uint32_t);
        return (end + page_size - 1) / page_size * page_size + local * traffic_bytes();
    }
    [[nodiscard]] constexpr uint64_t total_bytes() const { return traffic_offset(local_ranks); }
    // Beyond what every rank maps: memory that ranks allocate to be read by others, mapped by who needs it.
    [[nodiscard]] constexpr uint64_t arena_offset(uint32_t owner) const {
        return (total_bytes() + page_size - 1) / page_size * page_size + owner * arena_bytes;
    }
    [[nodiscard]] constexpr uint64_t file_bytes() const { return arena_offset(local_ranks); }
    [[nodiscard]] constexpr bool valid() const {
        return local_ranks >= 1 && local_ranks <= max_local_ranks && cells_per_rank >= 1 &&
               cells_per_rank <= 65536 && cell_bytes >= page_size - line_size && cell_bytes <= (1U << 24) &&
               cell_stride() % page_size == 0;
    }
};

} // namespace zipmpi::wire
