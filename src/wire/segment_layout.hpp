// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Node segment: one memory file per job and node. Offsets only, no pointers. Created by mpiexec, or by the
// lowest rank of the node under another launcher. A zeroed segment with a filled header is ready for use, so
// no rank has to wait for another before it sends.
//
//   header | world ranks, localities, nodes | rank blocks | rings, n x n, sparse | cells, n pools, sparse |
//   contexts, sparse | collective buffers, sparse | addresses, sparse | failed ranks, sparse |
//   revoked contexts, sparse | rows of the communication matrix, sparse
//
// The creator reserves header, world ranks, localities and rank blocks. A ring or cell is reserved by its
// producer on first use, a page of contexts by the rank that allocates from it.
#pragma once

#include "base/counters.hpp"
#include "base/recorder_layout.hpp"
#include "wire/coll_buffer_layout.hpp"
#include "wire/locality_layout.hpp"
#include "wire/net_layout.hpp"
#include "wire/ring_layout.hpp"
#include "wire/traffic_layout.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace zipmpi::wire {

inline constexpr uint64_t segment_magic = 0x31474553504d5a49; // "IZMPSEG1"
inline constexpr uint32_t segment_version = 12;
inline constexpr uint32_t max_local_ranks = 10240; // as many as their bitmaps fit into a rank block
inline constexpr uint32_t contexts = 1U << 16;     // concurrent communicator contexts per node
// address space for collective buffers; pages are reserved on use
inline constexpr uint64_t coll_memory_per_rank = 4U << 20;

// Fault notifications: failed ranks and revoked communicators, in the same order on all nodes. Written only
// by the launcher.
struct FaultState {
    uint32_t fault_tolerant;                              // 1: a failed rank does not end the job
    alignas(cache_line) std::atomic<uint32_t> generation; // changes with every notification
    std::atomic<uint32_t> failed;                         // length of the list of failed ranks
    std::atomic<uint32_t> revoked;                        // length of the list of revoked contexts
};

// Keys of a multi-node job, derived by base/key_schedule.hpp. Gateways get a segment that has only `hop`.
struct SegmentKeys {
    uint8_t peer[key_bytes];       // ranks authenticate to each other
    uint8_t hop[key_bytes];        // ranks and gateways authenticate to each other
    uint8_t end_to_end[key_bytes]; // ranks in different clusters encrypt what gateways carry
    uint8_t inter_job[key_bytes];  // identifies this job to connected jobs
};

struct SegmentHeader {
    uint64_t magic;
    uint32_t version;
    uint32_t local_ranks; // n
    uint32_t world_size;
    uint32_t cell_bytes; // payload of one cell: a multiple of the page size minus one cache line
    uint32_t cells_per_rank;
    // usable by all ranks of this node; more ranks than this: oversubscribed. Grows while bound ranks join.
    std::atomic<uint32_t> usable_cpus;
    // Ranks of other nodes and jobs that share these CPUs, if all ranks together outnumber the CPUs, else 0.
    std::atomic<uint32_t> other_ranks;
    uint64_t total_bytes;
    uint64_t world_ranks_offset; // uint32_t[n]: local index -> rank in MPI_COMM_WORLD
    uint64_t blocks_offset;
    uint64_t rings_offset;
    uint64_t cells_offset;
    char job_id[64];
    std::atomic<uint32_t> context_hint; // contexts below are probably in use
    std::atomic<uint32_t> fatal_errors; // ranks that ended the job with an error; only the first prints it
    NodeInfo node_info;
    CollBufferPool coll_pool;
    uint32_t nodes;                      // of the job
    uint32_t node;                       // index of this node
    uint32_t multi_node_size;            // ranks of a job on several nodes, else 0
    std::atomic<uint32_t> devices_state; // DevicesState
    char devices[256];                   // devices that reach the other hosts, comma-separated
    char devices_log[768];               // log of the device discovery
    SegmentKeys keys;
    FaultState fault_state;
    // Number of sleeping threads. Decremented by the waking process, because the woken thread may wait long
    // for a CPU.
    alignas(cache_line) std::atomic<uint32_t> asleep;
};
static_assert(sizeof(SegmentHeader) <= page_size);

enum class DevicesState : uint32_t { unknown = 0, known = 1, none = 2 };
enum class RankState : uint32_t { absent = 0, running = 1, finalized = 2, aborted = 3, failed = 4 };

// Result of an agreement on a communicator, for one member: written by the launcher, consumed by the rank.
struct AgreementSlot {
    std::atomic<uint32_t> filled; // 0: free
    uint32_t context;             // of the communicator
    uint32_t number;              // of the agreement on it
    uint32_t flags;               // bitwise and of all contributions
    uint32_t value;               // maximum of all contributions
    uint32_t failed;              // number of failed ranks at the time of the agreement
};
inline constexpr uint32_t agreement_slots = 4; // per rank; the launcher queues further results

// Cooperative copy: the receiver copies chunks from the front, the sender, if it has time, from the back. If
// a buffer is reused, each rank therefore copies the chunks that are in its cache.
struct CoopCopySlot {
    // copy number (32 bits), chunks taken at the front (16 bits) and at the back (16 bits)
    alignas(cache_line) std::atomic<uint64_t> taken;
    std::atomic<uint32_t> sender_chunks; // chunks written by the sender
    std::atomic<uint32_t> failed_chunk;  // 1 + chunk that the sender took and could not write
};
inline constexpr uint32_t coop_copy_slots = 4; // concurrent cooperative copies per receiver

// Shared state of one rank. Each cache line has one kind of writer.
struct RankBlock {
    // written by the rank itself
    alignas(cache_line) std::atomic<uint32_t> state; // RankState
    std::atomic<int32_t> pid;
    std::atomic<int32_t> abort_code;
    // name of the wakeup socket of a rank that sleeps on descriptors; 0: it sleeps on `wake` below
    std::atomic<uint64_t> wake_socket;
    // a number at an address in the rank's private memory: peers that can read it can use CMA
    std::atomic<uint64_t> probe_address;
    std::atomic<uint64_t> probe_number; // lowest bit set: the rank runs under valgrind
    std::atomic<uint32_t> traffic_rows; // entries in its row of the communication matrix
    // to sleep, the rank increments `sleepers`, polls once more, and waits for `wake` to change
    alignas(cache_line) std::atomic<uint32_t> wake;
    std::atomic<uint32_t> sleepers;
    // with wake_socket: threads that sleep on `wake`, and on descriptors (at most one)
    std::atomic<uint32_t> futex_sleepers;
    std::atomic<uint32_t> descriptor_sleepers;
    // set by the rank when its pool is exhausted; a receiver that frees a cell wakes it
    std::atomic<uint32_t> waits_for_cell;
    // 1: before sleeping, this rank executes a membarrier on behalf of all registered senders, which need no
    // fence then; never reset
    std::atomic<uint32_t> uses_membarrier;
    // one bit per local rank, set by a sender after it has filled slots of its ring to this rank
    alignas(cache_line) std::atomic<uint64_t> arrival_bitmap[max_local_ranks / 64];
    // one bit per local rank, rarely written by the rank itself: it polls that sender's ring directly, so the
    // sender need not set its bit in arrival_bitmap
    alignas(cache_line) std::atomic<uint64_t> polled_bitmap[max_local_ranks / 64];
    CoopCopySlot coop_copies[coop_copy_slots]; // of messages that this rank receives
    alignas(cache_line) AgreementSlot agreements[agreement_slots];
    // 1: the launcher found no free slot; the rank notifies it after taking a result
    std::atomic<uint32_t> agreement_overflow;
    alignas(cache_line) Counters counters;
    alignas(page_size) Recorder recorder;
};
static_assert(sizeof(RankBlock) == 2 * page_size && max_local_ranks <= coll_buffer_max_members);

// Published address of a rank on another host, cached by the first rank of this node that requests it.
struct AddressSlot {
    std::atomic<uint32_t> state; // AddressState
    uint32_t bytes;
    std::byte address[1016];
};
enum class AddressState : uint32_t { empty = 0, being_filled = 1, ready = 2 };
static_assert(sizeof(AddressSlot) == 1024);

// file range of one rank's arena; pages are reserved on use
inline constexpr uint64_t arena_bytes = uint64_t{1} << 40;

// Offsets in the segment, computed from its parameters.
struct Geometry {
    uint32_t local_ranks = 0;
    uint32_t cell_bytes = 0;
    uint32_t cells_per_rank = 0;
    uint32_t multi_node_size = 0; // see SegmentHeader

    [[nodiscard]] constexpr uint64_t world_ranks_offset() const { return page_size; }
    [[nodiscard]] constexpr uint64_t localities_offset() const {
        return (world_ranks_offset() + uint64_t{local_ranks} * sizeof(uint32_t) + sizeof(LocalitySlot) - 1) /
               sizeof(LocalitySlot) * sizeof(LocalitySlot);
    }
    // uint32_t[multi_node_size]: rank in MPI_COMM_WORLD -> index of its node
    [[nodiscard]] constexpr uint64_t nodes_offset() const {
        return localities_offset() + local_ranks * sizeof(LocalitySlot);
    }
    [[nodiscard]] constexpr uint64_t blocks_offset() const {
        return (nodes_offset() + uint64_t{multi_node_size} * sizeof(uint32_t) + page_size - 1) / page_size *
               page_size;
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
    [[nodiscard]] constexpr uint64_t cell_stride() const { return cell_bytes + cache_line; }
    [[nodiscard]] constexpr uint64_t cell_offset(uint32_t owner, uint32_t cell) const {
        return cells_offset() + (uint64_t{owner} * cells_per_rank + cell) * cell_stride();
    }
    // uint32_t[contexts]: number of processes that hold the context; 0: free
    [[nodiscard]] constexpr uint64_t contexts_offset() const {
        return cells_offset() + uint64_t{local_ranks} * cells_per_rank * cell_stride();
    }
    [[nodiscard]] constexpr uint64_t coll_memory_offset() const {
        return contexts_offset() + uint64_t{contexts} * sizeof(uint32_t);
    }
    [[nodiscard]] constexpr uint64_t coll_memory_bytes() const {
        return uint64_t{local_ranks} * coll_memory_per_rank;
    }
    [[nodiscard]] constexpr uint64_t addresses_offset() const {
        return coll_memory_offset() + coll_memory_bytes();
    }
    // uint32_t[]: ranks in MPI_COMM_WORLD, in order of failure
    [[nodiscard]] constexpr uint64_t failed_offset() const {
        return addresses_offset() + uint64_t{multi_node_size} * sizeof(AddressSlot);
    }
    [[nodiscard]] constexpr uint32_t world_ranks() const {
        return multi_node_size != 0 ? multi_node_size : local_ranks;
    }
    // uint32_t[contexts]: contexts of communicators, in order of revocation
    [[nodiscard]] constexpr uint64_t revoked_offset() const {
        return failed_offset() +
               (uint64_t{world_ranks()} * sizeof(uint32_t) + cache_line - 1) / cache_line * cache_line;
    }
    // PeerTraffic[world_ranks()] for each rank of the node, page-aligned
    [[nodiscard]] constexpr uint64_t traffic_bytes() const {
        return (uint64_t{world_ranks()} * sizeof(PeerTraffic) + page_size - 1) / page_size * page_size;
    }
    [[nodiscard]] constexpr uint64_t traffic_offset(uint32_t local) const {
        const uint64_t end = revoked_offset() + uint64_t{contexts} * sizeof(uint32_t);
        return (end + page_size - 1) / page_size * page_size + local * traffic_bytes();
    }
    [[nodiscard]] constexpr uint64_t total_bytes() const { return traffic_offset(local_ranks); }
    // Shared arenas are behind the bytes that every rank maps; ranks map them on demand.
    [[nodiscard]] constexpr uint64_t arena_offset(uint32_t owner) const {
        return (total_bytes() + page_size - 1) / page_size * page_size + owner * arena_bytes;
    }
    [[nodiscard]] constexpr uint64_t file_bytes() const { return arena_offset(local_ranks); }
    [[nodiscard]] constexpr bool valid() const {
        return local_ranks >= 1 && local_ranks <= max_local_ranks && cells_per_rank >= 1 &&
               cells_per_rank <= 65536 && cell_bytes >= page_size - cache_line && cell_bytes <= (1U << 24) &&
               cell_stride() % page_size == 0;
    }
};

} // namespace zipmpi::wire
