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

struct Hint {
    const char* key;
    const char* default_value;
};
constexpr Hint default_hints[] = {{"no_locks", "false"},
                                  {"accumulate_ordering", "rar,raw,war,waw"},
                                  {"accumulate_ops", "same_op_no_op"},
                                  {"same_size", "false"},
                                  {"same_disp_unit", "false"},
                                  {"alloc_shared_noncontig", "false"}};

} // namespace

Win* make_win() { return slab().make(); }
void destroy(Win& win) { slab().destroy(win); }
Win* win_by_index(uint32_t index) { return slab().find(index); }

Hints window_hints(const Hints& user_hints) {
    Hints hints;
    for (const Hint& h : default_hints) {
        const std::string* const value = user_hints.find(h.key);
        hints.set(h.key, value != nullptr ? value->c_str() : h.default_value);
    }
    return hints;
}

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

// Hints about window memory take effect only at creation.
Err win_set_info(Win& win, Info* info) {
    if (info == nullptr) return Err::success;
    for (const char* const key : {"no_locks", "accumulate_ordering", "accumulate_ops"})
        if (const std::string* const value = hints_of(*info).find(key); value != nullptr)
            win.hints.set(key, *value);
    return Err::success;
}

} // namespace zipmpi::core
