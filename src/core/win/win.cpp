// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Window objects: creation, destruction and queries.
#include "core/win/win.hpp"

#include "core/api/comm.hpp"
#include "core/comm/comm_util.hpp"
#include "core/group/group.hpp"
#include "core/runtime_state.hpp"

namespace zipmpi::core {
namespace {

Slab<Win>& slab() {
    static auto* const s = new Slab<Win>; // never destroyed: see slab.hpp
    return *s;
}

} // namespace

Win* make_win() { return slab().make(); }
void destroy(Win& win) { slab().destroy(win); }
void for_each_win(void (*visit)(Win& win)) { slab().for_each(visit); }
Win* win_by_index(uint32_t index) { return slab().find(index); }

WinFlavor flavor_of(const Win& win) noexcept { return win.flavor; }

void* win_attribute(Win& win, WinAttribute which) noexcept {
    switch (which) {
    case WinAttribute::base:
        return win.memory.base;
    case WinAttribute::size:
        return &win.memory.bytes;
    default:
        return &win.memory.unit;
    }
}

Err win_get_name(Win* win, std::string& name) {
    name = win != nullptr ? win->name : "MPI_WIN_NULL";
    return Err::success;
}

Err win_set_name(Win& win, const char* name) {
    win.name = name;
    return Err::success;
}

Err win_get_group(Win& win, Group*& group) { return make_group(members_of(win.team()), nullptr, group); }

Err win_get_info(Win& win, Info*& info) { return make_info(win.hints, info); }

// Other hints take effect only at creation.
Err win_set_info(Win& win, Info* info) {
    if (info == nullptr) return Err::success;
    constexpr const char* key = "accumulate_ops";
    if (const std::string* const value = hints_of(*info).find(key); value != nullptr)
        win.hints.set(key, *value);
    return Err::success;
}

} // namespace zipmpi::core
