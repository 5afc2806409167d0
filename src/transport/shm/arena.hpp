// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Shared arena: MPI_Alloc_mem allocates from the rank's region of the node segment, so that peers on the node
// can copy from it without a system call. A peer maps the region when the first message from it arrives.
//
// Threads: called with the progress engine's lock held.
#pragma once

#include "os/lazy_table.hpp"
#include "segment/node_segment.hpp"
#include "transport/transport.hpp"

#include <vector>

namespace zipmpi::transport::shm {

class Arena {
  public:
    Arena(const segment::NodeSegment& segment, uint32_t self)
        : segment_(segment)
        , self_(self)
        , mappings_(segment.local_ranks()) {}
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    ~Arena();

    // Returns null if memory is short or the block is too small to benefit.
    void* allocate(uint64_t bytes);
    // Allocates a block of any size, for memory that must be shared. Call reserve() before the first access.
    void* allocate_unreserved(uint64_t bytes);
    // Commits memory for a range of a rank's region, or lets the kernel provide its pages on access if it is
    // large. Returns false if memory is short.
    [[nodiscard]] bool reserve(Peer owner, uint64_t arena_offset, uint64_t bytes) const;
    // Returns false if the block is not from this arena.
    bool free(void* base);
    // Offset of the memory in this rank's region plus 1; 0: not in the arena.
    [[nodiscard]] uint64_t offset_of(const void* memory, uint64_t bytes) const {
        return blocks_.empty() ? 0 : find(memory, bytes);
    }
    // A peer's memory at that offset; null if the offset is invalid (offsets from peers are not trusted).
    [[nodiscard]] const std::byte* view(Peer owner, uint64_t arena_offset, uint64_t bytes);
    // Maps a peer's memory for reading and writing until unmap() with the same length. Returns null if the
    // range is invalid or memory is short.
    [[nodiscard]] std::byte* map(Peer owner, uint64_t arena_offset, uint64_t bytes) const;
    static void unmap(std::byte* at, uint64_t bytes);

  private:
    static constexpr uint64_t smallest = 64 * 1024;
    static constexpr uint64_t reserved_at_once = 256 * 1024;   // takes 40 us, twice that with the release
    static constexpr uint64_t mapping_step = 64 * 1024 * 1024; // mappings of a peer's region grow by this

    struct ArenaBlock { // sorted by offset; the space between blocks is free
        uint64_t offset;
        uint64_t bytes;
        std::byte* base;
    };
    struct PeerMapping {
        std::byte* base = nullptr;
        uint64_t bytes = 0;
    };
    [[nodiscard]] uint64_t find(const void* memory, uint64_t bytes) const;
    [[nodiscard]] size_t find_free(uint64_t bytes, uint64_t& offset) const;

    const segment::NodeSegment& segment_;
    uint32_t self_;
    std::vector<ArenaBlock> blocks_;
    os::LazyTable<PeerMapping> mappings_; // by peer
};

} // namespace zipmpi::transport::shm
