// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Memory of a window that RDMA accesses: the registered region and lock of this rank, and the remote keys of
// all members.
//
// Threads: under the lock of the progress engine.
#pragma once

#include "proto/rma/target.hpp"
#include "transport/rdma_device.hpp"
#include "wire/rma_layout.hpp"
#include "wire/window_layout.hpp"

#include <vector>

namespace zipmpi::proto::rma {

class RdmaKeyTable {
  public:
    RdmaKeyTable(transport::RdmaDevice& device, size_t members)
        : device_(device)
        , published_(members)
        , imported_(members) {}
    ~RdmaKeyTable();
    RdmaKeyTable(const RdmaKeyTable&) = delete;
    RdmaKeyTable& operator=(const RdmaKeyTable&) = delete;

    // Registers the memory of this rank and its words for devices, and publishes the keys. Memory of a
    // dynamic window is not registered; it is accessed by active messages.
    void register_memory(int own_rank, const Region& own, wire::WindowMember& member);
    // The keys of all members; the caller exchanges them.
    [[nodiscard]] std::vector<wire::RmaKeys>& published() { return published_; }
    // Before the first access to a member. Returns false if the device rejects the keys.
    bool import(int rank);

    [[nodiscard]] transport::RemoteAddress memory(int rank, uint64_t offset) const {
        return {published_[index(rank)].region + offset, imported_[index(rank)].region.key};
    }
    [[nodiscard]] transport::RemoteAddress lock_word(int rank, size_t offset = 0) const {
        return {published_[index(rank)].lock + offset, imported_[index(rank)].lock.key};
    }

    [[nodiscard]] transport::RemoteAddress notices(int rank) const { return lock_word(rank, notices_offset); }

  private:
    // From the NetworkLock.
    static constexpr size_t notices_offset =
        offsetof(wire::WindowMember, notices) - offsetof(wire::WindowMember, network_lock);
    struct ImportedKeys {
        bool valid = false;
        transport::RemoteKey region;
        transport::RemoteKey lock;
    };
    static size_t index(int rank) { return static_cast<size_t>(rank); }

    transport::RdmaDevice& device_;
    transport::MemoryRegion region_;
    transport::MemoryRegion lock_;
    std::vector<wire::RmaKeys> published_;
    std::vector<ImportedKeys> imported_;
};

} // namespace zipmpi::proto::rma
