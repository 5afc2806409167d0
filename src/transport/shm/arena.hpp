// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Memory that is born shared: what MPI_Alloc_mem hands out lies in a part of the node segment's file that
// belongs to the rank, so that a peer can copy a message straight out of it, without the kernel. A peer maps
// it when the first message comes from there.
//
// Threads: under the lane's lock.
#pragma once

#include "boot/node_segment.hpp"
#include "transport/concept.hpp"

#include <vector>

namespace zipmpi::transport::shm {

class Arena {
  public:
    Arena(const boot::NodeSegment& segment, uint32_t self)
        : segment_(segment)
        , self_(self)
        , views_(segment.local_ranks()) {}
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    ~Arena();

    // Null: not from here, because memory is short or the block is too small to gain anything.
    void* allocate(uint64_t bytes);
    // The same however small, for memory that must be shared. It must be reserved before it is touched.
    void* allocate_unreserved(uint64_t bytes);
    // Memory is there for this part of a rank's blocks. False: it is short.
    [[nodiscard]] bool reserve(Peer owner, uint64_t place, uint64_t bytes) const;
    // False: it is not from here.
    bool free(void* base);
    // Where this memory lies in the own part, plus 1; 0: it does not.
    [[nodiscard]] uint64_t place_of(const void* memory, uint64_t bytes) const {
        return blocks_.empty() ? 0 : find(memory, bytes);
    }
    // A peer's memory by that number, or null: a peer's numbers are not trusted.
    [[nodiscard]] const std::byte* view(Peer owner, uint64_t place, uint64_t bytes);
    // The same for reading and writing, until unmap() with the same length. Null: there is none, or no
    // memory.
    [[nodiscard]] std::byte* map(Peer owner, uint64_t place, uint64_t bytes) const;
    static void unmap(std::byte* at, uint64_t bytes);

  private:
    static constexpr uint64_t smallest = 64 * 1024;
    static constexpr uint64_t view_step = 64 * 1024 * 1024; // mappings of a peer's part grow by this

    struct Block { // sorted by offset; the gaps between them are free
        uint64_t offset;
        uint64_t bytes;
        std::byte* base;
    };
    struct View {
        std::byte* base = nullptr;
        uint64_t bytes = 0;
    };
    [[nodiscard]] uint64_t find(const void* memory, uint64_t bytes) const;
    [[nodiscard]] size_t gap_for(uint64_t bytes, uint64_t& offset) const;

    const boot::NodeSegment& segment_;
    uint32_t self_;
    std::vector<Block> blocks_;
    std::vector<View> views_;
};

} // namespace zipmpi::transport::shm
