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

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace zipmpi::boot {

// The nodes of a job that has several.
struct Nodes {
    std::vector<uint32_t> node_of; // rank in MPI_COMM_WORLD -> number of its node, dense from 0
    uint32_t count = 1;
    uint32_t own = 0;
    std::array<uint8_t, wire::job_key_bytes> key{}; // the same on all of them, and secret
};

// What an agreement has come to; see wire::Decision. context and number say which one it is.
struct Decided {
    uint32_t context = 0;
    uint32_t number = 0;
    uint32_t flags = 0;
    uint32_t value = 0;
    uint32_t failed = 0;
};

class NodeSegment {
  public:
    // What one cell of a new segment holds, by the knob shm.cell_size.
    static uint32_t new_cell_bytes();
    // Makes a segment for these world ranks. Sizes of cells come from the knobs shm.cell_size and shm.cells.
    // nodes: of a job on several hosts, else null.
    static bool make(std::string_view job_id, const std::vector<int>& world_ranks, int world_size,
                     NodeSegment& out, Problem& why, const Nodes* nodes = nullptr);
    // Maps a segment that somebody else made; every field of its header is checked.
    // read_only: for who only looks; nothing but reading functions may be called then.
    static bool adopt(os::Fd fd, NodeSegment& out, Problem& why,
                      os::Access access = os::Access::read_and_write);

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
    [[nodiscard]] uint32_t nodes() const { return header().nodes; }
    [[nodiscard]] uint32_t node() const { return header().node; }
    // The number of the node of a rank of MPI_COMM_WORLD.
    [[nodiscard]] uint32_t node_of(int world_rank) const {
        if (geometry_.spread == 0) return 0;
        return at<uint32_t>(geometry_.nodes_offset())[world_rank];
    }
    // If there are several nodes.
    [[nodiscard]] wire::AddressSlot& address_slot(int world_rank) const {
        return at<wire::AddressSlot>(geometry_.addresses_offset())[world_rank];
    }
    [[nodiscard]] bool reserve_address_slot(int world_rank) const {
        return reserve(geometry_.addresses_offset() +
                           static_cast<uint64_t>(world_rank) * sizeof(wire::AddressSlot),
                       sizeof(wire::AddressSlot));
    }
    // The devices that lead to the other hosts: told by one rank, awaited by the others.
    void set_devices(bool found, std::string_view devices, std::string_view story) const;
    [[nodiscard]] bool wait_for_devices() const;
    void set_job_key(const std::array<uint8_t, wire::job_key_bytes>& key) const;
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
    [[nodiscard]] wire::PeerTraffic* traffic(uint32_t local) const { // boot/traffic.hpp
        return at<wire::PeerTraffic>(geometry_.traffic_offset(local));
    }
    [[nodiscard]] wire::BoardArea& board_area() const { return at<wire::SegmentHeader>(0)->boards; }
    [[nodiscard]] std::byte* board(uint64_t offset) const { return at<std::byte>(offset); }
    [[nodiscard]] std::atomic<uint32_t>& context_hint() const {
        return at<wire::SegmentHeader>(0)->context_hint;
    }
    [[nodiscard]] std::atomic<uint32_t>* context_holders() const {
        return at<std::atomic<uint32_t>>(geometry_.contexts_offset());
    }
    // News of faults: told by the launcher, which wakes all ranks of the node, in faults.cpp.
    [[nodiscard]] const wire::FaultNews& news() const { return header().news; }
    [[nodiscard]] int failed_rank(uint32_t i) const {
        return static_cast<int>(at<uint32_t>(geometry_.failed_offset())[i]);
    }
    [[nodiscard]] uint32_t revoked_context(uint32_t i) const {
        return at<uint32_t>(geometry_.revoked_offset())[i];
    }
    void set_keeps_going() const { at<wire::SegmentHeader>(0)->news.keeps_going = 1; }
    void tell_failed(int world_rank) const;
    void tell_revoked(uint32_t context) const;
    // False: no slot is free, and the rank is asked to say when it has taken a decision.
    [[nodiscard]] bool tell_decision(uint32_t local, const Decided& decided) const;
    // Takes a decision that this rank has been told. False: there is none.
    bool take_decision(uint32_t local, Decided& decided) const;
    // After decisions were taken: the launcher has more, and waits to be told that there is room.
    [[nodiscard]] bool has_more_decisions(uint32_t local) const;
    // Facts about the node (wire::NodeFacts), in faults.cpp. A rank that has said it sleeps (arm) calls
    // await_facts() and looks once more; whoever has found one out, by a seq_cst store, calls tell_facts().
    void await_facts() const { facts().awaited.store(1, std::memory_order_seq_cst); }
    void tell_facts() const;
    // Reserves memory in the segment before its first use. False: memory is short.
    [[nodiscard]] bool reserve(uint64_t offset, uint64_t bytes) const {
        return os::reserve(fd_.get(), offset, bytes);
    }

  private:
    void tell(std::atomic<uint32_t>& count, uint64_t list_offset, uint32_t most, uint32_t entry) const;
    [[nodiscard]] bool fill_slot(uint32_t local, const Decided& decided) const;
    void tell_news() const;
    void wake_everybody() const;
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
