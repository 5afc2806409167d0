// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Making and mapping the node segment (wire/segment_layout.hpp says what is in it). Used by the library and
// by the launcher, which makes it for its ranks and reads their flight recorders in it.
#pragma once

#include "base/problem.hpp"
#include "os/fd.hpp"
#include "os/memory.hpp"
#include "wire/segment_layout.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace zipmpi::boot {

class NodeSegment {
  public:
    // What one cell of a new segment holds, by the knob shm.cell_size.
    static uint32_t new_cell_bytes();
    // Makes a segment for these world ranks. Sizes of cells come from the knobs shm.cell_size and shm.cells.
    static bool make(std::string_view job_id, const std::vector<int>& world_ranks, int world_size,
                     NodeSegment& out, Problem& why);
    // Maps a segment that somebody else made; every field of its header is checked.
    static bool adopt(os::Fd fd, NodeSegment& out, Problem& why);

    explicit operator bool() const { return static_cast<bool>(map_); }
    [[nodiscard]] int fd() const { return fd_.get(); }
    [[nodiscard]] const wire::Geometry& geometry() const { return geometry_; }
    [[nodiscard]] const wire::SegmentHeader& header() const { return *at<wire::SegmentHeader>(0); }
    [[nodiscard]] std::atomic<uint32_t>& asleep() const { return at<wire::SegmentHeader>(0)->asleep; }
    void set_usable_cpus(int n) const {
        at<wire::SegmentHeader>(0)->usable_cpus.store(static_cast<uint32_t>(n), std::memory_order_relaxed);
    }
    // Whether the file has room for memory that ranks share by allocating it.
    [[nodiscard]] bool has_arenas() const { return has_arenas_; }
    [[nodiscard]] uint32_t local_ranks() const { return geometry_.local_ranks; }
    [[nodiscard]] int world_rank(uint32_t local) const {
        return static_cast<int>(at<uint32_t>(geometry_.world_ranks_offset())[local]);
    }
    [[nodiscard]] wire::PlaceEntry& place(uint32_t local) const {
        return at<wire::PlaceEntry>(geometry_.places_offset())[local];
    }
    [[nodiscard]] wire::NodeFacts& facts() const { return at<wire::SegmentHeader>(0)->facts; }
    [[nodiscard]] wire::RankBlock& block(uint32_t local) const {
        return at<wire::RankBlock>(geometry_.blocks_offset())[local];
    }
    [[nodiscard]] wire::Ring& ring(uint32_t to, uint32_t from) const {
        return *at<wire::Ring>(geometry_.ring_offset(to, from));
    }
    [[nodiscard]] std::byte* cell(uint32_t owner,
                                  uint32_t index) const { // head, then the bytes one line later
        return at<std::byte>(geometry_.cell_offset(owner, index));
    }
    [[nodiscard]] wire::BoardArea& board_area() const { return at<wire::SegmentHeader>(0)->boards; }
    [[nodiscard]] std::byte* board(uint64_t offset) const { return at<std::byte>(offset); }
    [[nodiscard]] std::atomic<uint32_t>& context_hint() const {
        return at<wire::SegmentHeader>(0)->context_hint;
    }
    [[nodiscard]] std::atomic<uint32_t>* context_holders() const {
        return at<std::atomic<uint32_t>>(geometry_.contexts_offset());
    }
    // Reserves memory in the segment before its first use. False: memory is short.
    [[nodiscard]] bool reserve(uint64_t offset, uint64_t bytes) const {
        return os::reserve(fd_.get(), offset, bytes);
    }

  private:
    template <class T>
    [[nodiscard]] T* at(uint64_t offset) const {
        return reinterpret_cast<T*>(map_.base() + offset);
    }
    os::Fd fd_;
    os::Mapping map_;
    wire::Geometry geometry_;
    bool has_arenas_ = false;
};

} // namespace zipmpi::boot
