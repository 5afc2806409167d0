// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// NodeSegment: creates and maps the node segment (layout: wire/segment_layout.hpp), and gives access to its
// parts. Used by the library and by mpiexec, which creates it for its ranks and reads their flight recorders.
#pragma once

#include "base/diagnostic.hpp"
#include "os/fd.hpp"
#include "os/memory.hpp"
#include "segment/agreement_results.hpp"
#include "segment/context_table.hpp"
#include "segment/fault_notifications.hpp"
#include "segment/network_information.hpp"
#include "segment/node_information.hpp"
#include "wire/segment_layout.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace zipmpi::segment {

// Nodes of a multi-node job.
struct NodeTable {
    std::vector<uint32_t> node_of; // rank in MPI_COMM_WORLD -> index of its node, dense from 0
    uint32_t count = 1;
    uint32_t own = 0;
    wire::SegmentKeys keys{};
};

enum class SegmentUse { ranks, gateways };

class NodeSegment {
  public:
    // Payload of one cell of a new segment, from the parameter shm.cell_size.
    static uint32_t new_cell_bytes();
    // Creates a segment for these world ranks. Size and number of cells come from the parameters
    // shm.cell_size and shm.cells_per_rank. nodes: of a multi-node job, else null. use: for the name of the
    // memory file, by which tools find the segments of ranks.
    static bool make(std::string_view job_id, const std::vector<int>& world_ranks, int world_size,
                     NodeSegment& out, Diagnostic& why, const NodeTable* nodes = nullptr,
                     SegmentUse use = SegmentUse::ranks);
    // Maps an existing segment and checks every field of its header. With read_only access only functions
    // that read may be called.
    static bool attach(os::Fd fd, NodeSegment& out, Diagnostic& why,
                       os::Access access = os::Access::read_and_write);

    explicit operator bool() const { return static_cast<bool>(map_); }
    [[nodiscard]] int fd() const { return fd_.get(); }
    [[nodiscard]] const wire::Geometry& geometry() const { return geometry_; }
    [[nodiscard]] const wire::SegmentHeader& header() const { return *at<wire::SegmentHeader>(0); }
    [[nodiscard]] std::atomic<uint32_t>& asleep() const { return at<wire::SegmentHeader>(0)->asleep; }
    void set_usable_cpus(int n) const {
        at<wire::SegmentHeader>(0)->usable_cpus.store(static_cast<uint32_t>(n), std::memory_order_relaxed);
    }
    void set_other_ranks(uint32_t n) const {
        at<wire::SegmentHeader>(0)->other_ranks.store(n, std::memory_order_relaxed);
    }
    // True if the file has space for shared arenas.
    [[nodiscard]] bool has_arenas() const { return has_arenas_; }
    [[nodiscard]] uint32_t local_ranks() const { return geometry_.local_ranks; }
    [[nodiscard]] int world_rank(uint32_t local) const {
        return static_cast<int>(at<uint32_t>(geometry_.world_ranks_offset())[local]);
    }
    [[nodiscard]] uint32_t nodes() const { return header().nodes; }
    [[nodiscard]] uint32_t node() const { return header().node; }
    // Index of the node of a rank of MPI_COMM_WORLD.
    [[nodiscard]] uint32_t node_of(int world_rank) const {
        if (geometry_.multi_node_size == 0) return 0;
        return at<uint32_t>(geometry_.nodes_offset())[world_rank];
    }
    [[nodiscard]] wire::RankBlock& block(uint32_t local) const {
        return at<wire::RankBlock>(geometry_.blocks_offset())[local];
    }
    [[nodiscard]] wire::Ring& ring(uint32_t to, uint32_t from) const {
        return *at<wire::Ring>(geometry_.ring_offset(to, from));
    }
    [[nodiscard]] std::byte* cell(uint32_t owner,
                                  uint32_t index) const { // header, then the data after one cache line
        return at<std::byte>(geometry_.cell_offset(owner, index));
    }
    [[nodiscard]] wire::PeerTraffic* traffic(uint32_t local) const { // segment/traffic.hpp
        return at<wire::PeerTraffic>(geometry_.traffic_offset(local));
    }
    [[nodiscard]] wire::CollBufferPool& coll_pool() const { return at<wire::SegmentHeader>(0)->coll_pool; }
    [[nodiscard]] std::byte* coll_memory(uint64_t offset) const { return at<std::byte>(offset); }
    [[nodiscard]] ContextTable contexts() const {
        return {at<wire::SegmentHeader>(0)->context_hint,
                at<std::atomic<uint32_t>>(geometry_.contexts_offset())};
    }
    [[nodiscard]] FaultNotifications faults() const {
        return {*this, *at<wire::SegmentHeader>(0), at<uint32_t>(geometry_.failed_offset()),
                at<uint32_t>(geometry_.revoked_offset())};
    }
    [[nodiscard]] AgreementResults agreements() const { return AgreementResults(*this); }
    [[nodiscard]] NodeInformation node_info() const {
        return {*this, at<wire::SegmentHeader>(0)->node_info,
                at<wire::LocalitySlot>(geometry_.localities_offset())};
    }
    // Only in multi-node jobs.
    [[nodiscard]] NetworkInformation network_info() const {
        return {*this, *at<wire::SegmentHeader>(0), at<wire::AddressSlot>(geometry_.addresses_offset())};
    }
    // Reserves memory in the segment before its first use. Returns false if memory is short.
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

} // namespace zipmpi::segment
