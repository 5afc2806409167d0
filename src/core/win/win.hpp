// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A window: memory that processes open to each other, with the epochs in which this process may access it.
//
// Which targets are accessible, and what a short operation needs to know of them: near.hpp.
#pragma once

#include "core/api.hpp"
#include "core/attr/attr.hpp"
#include "core/comm/comm.hpp"
#include "core/errhandler/errhandler.hpp"
#include "core/info/info.hpp"
#include "core/near.hpp"
#include "proto/rma/window.hpp"

#include <memory>
#include <string>
#include <vector>

namespace zipmpi::core {

struct Win : WinFace {
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
    bool fenced = false; // a fence has opened the window
    bool all_unchecked = false;
    int locks = 0;
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
    [[nodiscard]] Near& near_of(int rank) { return near[static_cast<size_t>(rank)]; }
    void make_records(int targets) {
        records_ = std::make_unique<Near[]>(static_cast<size_t>(targets));
        near = records_.get();
    }

  private:
    std::unique_ptr<Near[]> records_;
};

Win* make_win();
void destroy(Win& win);

// What is understood of hints for a window.
Hints window_hints(const Hints& given);

[[gnu::cold]] Err not_in_epoch(int target);
[[gnu::cold]] Err wrong_synchronisation(const char* todo, const char* why);

} // namespace zipmpi::core
