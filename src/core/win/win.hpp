// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A window: memory that processes expose to each other, and the epochs in which this process may access it.
//
// Accessible targets and cached data for short operations: win/target_cache.hpp.
#pragma once

#include "core/api/common.hpp"
#include "core/attr/attr.hpp"
#include "core/comm/comm.hpp"
#include "core/errhandler/errhandler.hpp"
#include "core/info/info.hpp"
#include "core/win/target_cache.hpp"
#include "os/lazy_table.hpp"
#include "proto/rma/window.hpp"

#include <memory>
#include <string>
#include <vector>

namespace zipmpi::core {

// Memory of this process in a window, and what the window has allocated: one block for the members on this
// node, or private memory of this process.
struct WinMemory {
    void* base = nullptr;
    int64_t bytes = 0;
    int unit = 1;
    uint64_t control = 0; // offset in the node segment of the state shared by the members
    uint64_t control_bytes = 0;
    int leader = 0; // first member on this node, which allocated control and block
    std::byte* block = nullptr;
    uint64_t block_bytes = 0;
    // mapped from the arena of the leader, which owns it: unmapped, not freed
    bool block_is_mapped = false;
    void* private_memory = nullptr;
};

// Open epochs, besides those in WinHeader and TargetCache.
struct WinEpochs {
    bool fenced = false; // a fence has opened the window
    bool all_unchecked = false;
    int locks = 0;
    bool started = false;
    std::vector<int> start_targets;
    bool posted = false;
    std::vector<int> post_origins;
    bool ending = false;   // by a nonblocking fence or MPIX_Win_iunlock_all that is not complete
    int pending_syncs = 0; // nonblocking synchronizations that are not complete
};

struct Win : WinHeader {
    static constexpr ObjectKind class_id = ObjectKind::win;

    Comm* comm = nullptr; // private to the window
    std::unique_ptr<proto::rma::Window> window;
    std::vector<proto::rma::Region> regions; // of all members, while the window is created
    WinFlavor flavor = WinFlavor::create;
    WinMemory memory;
    WinEpochs epochs;
    bool needs_progress_thread = false; // other ranks need this process to serve active messages
    Err failure = Err::success;         // of an active-message operation, until the next synchronization

    std::string name;
    Errhandler* errhandler = nullptr; // reference-counted
    Attributes attributes;
    Hints hints;
    proto::rma::WindowPolicy policy; // of the hints; equal on all members

    [[nodiscard]] proto::Team& team() { return comm->team; }
    [[nodiscard]] TargetCache& cache_of(int rank) { return target_caches[static_cast<size_t>(rank)]; }
    void make_caches(int targets) {
        caches_.grow(static_cast<size_t>(targets));
        target_caches = &caches_[0];
    }

  private:
    os::LazyTable<TargetCache> caches_;
};

Win* make_win();
void destroy(Win& win);
void for_each_win(void (*visit)(Win& win));

[[gnu::cold]] Err not_in_epoch(int target);
[[gnu::cold]] Err wrong_synchronization(const char* fix, const char* why);

} // namespace zipmpi::core
