// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A target: the memory region of a member as this rank accesses it.
#pragma once

#include "transport/transport.hpp"
#include "wire/window_layout.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace zipmpi::proto::rma {

using Region = wire::WindowRegion;

// How this rank accesses the memory of a target:
//   shared  local memory, or memory in the node segment: load, store, CPU atomics
//   cma     private memory of another process: process_vm_readv and writev, several segments per call
//   rdma    on another host, by RDMA; unsupported operations use active messages
//   am      otherwise: active messages that the target serves
// The first three need no progress of the target; the first two complete immediately.
enum class AccessPath : uint8_t { unknown, shared, cma, rdma, am };

// Direction of a transfer, at the target.
enum class Direction : uint8_t { read, write };

struct Target {
    // Written last by TargetTable::resolve_path(): a reader of a resolved path may read base, size and
    // disp_unit without the lock.
    std::atomic<AccessPath> resolved_path{AccessPath::unknown};
    std::byte* base = nullptr; // shared: local mapping; else address in the target's memory
    uint64_t size = 0;
    int64_t disp_unit = 0;    // like base and size, valid after resolve_path()
    bool cpu_atomics = false; // all origins map the memory, so CPU atomics are allowed
    bool exclusive = false;   // set by core: no other origin has access
    transport::Peer peer = 0;

    // pairs with set_path()
    [[nodiscard]] AccessPath path() const { return resolved_path.load(std::memory_order_acquire); }
    void set_path(AccessPath path) { resolved_path.store(path, std::memory_order_release); }
    // By active message and RDMA an address is an offset in the target's region.
    [[nodiscard]] std::byte* address_of(uint64_t offset) const {
        return path() >= AccessPath::rdma ? reinterpret_cast<std::byte*>(offset) : base + offset;
    }
};

} // namespace zipmpi::proto::rma
