// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// RDMA state of a window: registered local memory, remote keys of all members, and which accumulates and
// locks use RDMA. The members agree on all of it when the window is created, so that all accesses to a word
// use the same method.
//
// Threads: under the lock of the progress engine.
#pragma once

#include "proto/rma/network_lock.hpp"
#include "proto/rma/rdma_context.hpp"
#include "proto/rma/window.hpp"

#include <span>

namespace zipmpi::proto::rma {

struct Window::RdmaPath {
    RdmaPath(RdmaContext& used, size_t members)
        : context(used)
        , published_keys(members)
        , member_keys(members) {}
    ~RdmaPath();
    RdmaPath(const RdmaPath&) = delete;
    RdmaPath& operator=(const RdmaPath&) = delete;

    using Locks = DeviceLocks;
    enum class Atomics : uint8_t {
        cpu,     // at the target, as without RDMA
        network, // RDMA atomics for all origins, never mixed with CPU atomics
        mixed    // coherent with CPU atomics: RDMA for few elements, the target for many
    };
    // Path of the last accumulate to a target; a change of path flushes first.
    enum class LastPath : uint8_t { none, rdma, am };
    // Imported keys and lock state of a member.
    struct MemberState {
        bool imported = false;
        transport::RemoteKey region;
        transport::RemoteKey lock;
        LastPath last_path = LastPath::none;
        // hybrid locks: assumed location of the lock, and how this rank holds it
        bool assume_network_lock = false;
        enum class HeldAs : uint8_t { none, network, am, node } held_as = HeldAs::none;
        uint64_t ticket = 0;
    };

    RdmaContext& context;
    Locks locks = Locks::cpu;
    Atomics atomics = Atomics::cpu;
    bool has_put_get = false;    // put and get use RDMA
    uint32_t handover_count = 1; // consecutive acquisitions before a hybrid lock migrates
    transport::MemoryRegion region;
    transport::MemoryRegion lock;
    std::vector<wire::RmaKeys> published_keys;
    std::vector<MemberState> member_keys;
    uint64_t discard_word = 0; // sink for unused fetch results

    void fill_keys(const Region& own, wire::NetworkLock& lock_words, wire::RmaKeys& keys);
    bool import_keys(int rank);
};

} // namespace zipmpi::proto::rma
