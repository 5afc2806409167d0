// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A window: memory that processes open to each other, with the epochs in which this process may access it.
//
// Which targets are accessible is said twice so that an operation looks at one byte: open_to_all (fence,
// MPI_Win_lock_all), or Target::open (MPI_Win_lock, MPI_Win_start).
#pragma once

#include "core/api.hpp"
#include "core/attr/attr.hpp"
#include "core/comm/comm.hpp"
#include "core/errhandler/errhandler.hpp"
#include "core/info/info.hpp"
#include "proto/rma/window.hpp"

#include <memory>
#include <string>
#include <vector>

namespace zipmpi::core {

struct Win : CommFace {
    static constexpr Class class_id = Class::win;

    Comm* comm = nullptr; // the window's own
    std::unique_ptr<proto::rma::Window> window;
    std::vector<proto::rma::Region> regions; // of all members
    WinFlavor flavor = WinFlavor::create;
    void* base = nullptr;
    int64_t bytes = 0;
    int unit = 1;
    uint64_t control = 0; // what the members share, in the node segment
    int leader = 0;       // the first member on this node: has made it

    bool helped = false; // others need this process to serve them

    // Memory that the window has made: one block for all members, or private memory of this one.
    std::byte* block = nullptr;
    uint64_t block_bytes = 0;
    bool block_is_mapped = false; // it belongs to the first member
    void* private_memory = nullptr;

    // --- epochs
    enum class Held : uint8_t { no, shared, exclusive, unchecked };
    bool open_to_all = false;
    bool fenced = false; // a fence has opened the window
    bool all_locked = false;
    bool all_unchecked = false;
    int locks = 0;
    std::vector<Held> held; // by target
    bool started = false;
    std::vector<int> start_targets;
    bool posted = false;
    uint32_t post_origins = 0;
    Err failure = Err::success; // of an operation that went by messages, until the next synchronisation

    std::string name;
    Errhandler* errhandler = nullptr; // counted
    Attributes attributes;
    Hints hints;

    [[nodiscard]] proto::Team& team() { return comm->team; }
    [[nodiscard]] bool may_access(const proto::rma::Target& t) const { return open_to_all || t.open; }
};

Win* make_win();
void destroy(Win& win);

// What is understood of hints for a window.
Hints window_hints(const Hints& given);

[[gnu::cold]] Err not_in_epoch(int target);
[[gnu::cold]] Err wrong_synchronisation(const char* todo, const char* why);

} // namespace zipmpi::core
