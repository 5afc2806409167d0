// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Making windows, and their end. All members tell each other what they have; the first one on each node takes
// shared memory for those there and tells where it is.
#include "core/comm/make.hpp"
#include "core/helper.hpp"
#include "core/info/at_launch.hpp"
#include "core/state.hpp"
#include "core/win/combine.hpp"
#include "core/win/device.hpp"
#include "core/win/win.hpp"
#include "proto/coll/coll.hpp"
#include "proto/coll/shm/area.hpp"
#include "proto/p2p/lane.hpp"
#include "proto/rma/device.hpp"

#include <algorithm>
#include <cstdlib>

namespace zipmpi::core {
namespace {

namespace coll = proto::coll;
using proto::rma::Region;
using proto::rma::Window;

// Of the first member on each node; the context is drawn by the first of all.
struct Announcement {
    uint32_t context; // 0: there is none
    uint32_t device;  // not 0: this member has one, and the window spans hosts
    uint64_t control; // 0: no memory
    uint64_t place;   // of the block for the members on the node; 0: none
    uint64_t block_bytes;
};

// What a call wants.
struct Wish {
    WinFlavor flavor;
    int64_t size;
    int64_t unit;
    void* base;
    bool contiguous;
};

Err no_window_memory() {
    return fail(Err::no_mem, "free windows or communicators, or start fewer ranks",
                "no shared memory is left for another window");
}

bool on_this_node(const proto::Team& team, int rank) { return lane().on_this_node(team.map.world(rank)); }

// The first member on this node.
int leader_of(const proto::Team& team) {
    int r = 0;
    while (!on_this_node(team, r)) ++r;
    return r;
}

transport::Peer leader_peer(const Win& win) {
    return static_cast<transport::Peer>(lane().shm().reach(win.comm->team.map.world(win.leader)));
}

Err check(const Wish& w, const Comm& comm) {
    if (comm.inter()) return not_intra(comm);
    if (w.size < 0)
        return fail(Err::size, "pass a size of 0 or more", "size is %lld", static_cast<long long>(w.size));
    if (w.unit <= 0)
        return fail(Err::disp, "pass a displacement unit of 1 or more", "disp_unit is %lld",
                    static_cast<long long>(w.unit));
    if (w.flavor == WinFlavor::create && w.base == nullptr && w.size > 0)
        return fail(Err::base, "pass the address of your memory, or a size of 0", "base is a null pointer");
    for (int r = 0; w.flavor == WinFlavor::shared && r < comm.team.size; ++r)
        if (!on_this_node(comm.team, r))
            return fail(Err::rma_shared, "use a communicator of one host, such as MPI_Comm_split_type makes",
                        "rank %d of the communicator is on another host", r);
    return Err::success;
}

// Where the parts of the members on this node begin, and the size of all: side by side if they shall be
// contiguous, else in pages of their own.
uint64_t lay_out(const proto::Team& team, std::vector<Region>& regions, bool contiguous) {
    uint64_t end = 0;
    for (int i = 0; i < team.size; ++i) {
        if (!on_this_node(team, i)) continue;
        Region& r = regions[static_cast<size_t>(i)];
        if (!contiguous) end = (end + wire::page_size - 1) / wire::page_size * wire::page_size;
        r.base = end;
        end += r.size;
    }
    return end;
}

void take_memory(Win& win, Announcement& a) {
    const auto& segment = lane().shm().segment();
    const wire::WindowGeometry geometry{static_cast<uint32_t>(win.regions.size())};
    a.control = coll::take_board_memory(segment, geometry.total_bytes());
    if (a.control != 0) std::memset(segment.board(a.control), 0, geometry.total_bytes());
    if (a.block_bytes == 0) return;
    win.block = static_cast<std::byte*>(lane().arena().allocate_unreserved(a.block_bytes));
    if (win.block != nullptr) a.place = lane().arena().place_of(win.block, a.block_bytes);
}

// The block as this process sees it, or private memory in its stead.
bool find_memory(Win& win, const Wish& w, const Announcement& a) {
    const bool allocates = w.flavor == WinFlavor::allocate || w.flavor == WinFlavor::shared;
    if (!allocates || a.block_bytes == 0) return true;
    win.block_bytes = a.block_bytes;
    if (a.place == 0) {
        if (w.flavor == WinFlavor::shared) return false;
        constexpr size_t line = 64;
        const auto bytes = static_cast<size_t>(w.size);
        win.private_memory = std::aligned_alloc(line, std::max(line, (bytes + line - 1) / line * line));
        win.base = win.private_memory;
        return win.base != nullptr;
    }
    if (win.team().rank != win.leader) {
        win.block = lane().arena().map(leader_peer(win), a.place, a.block_bytes);
        win.block_is_mapped = true;
    }
    // Everybody reserves the own part: all at once, and near to who uses it.
    const Region& own = win.regions[static_cast<size_t>(win.team().rank)];
    return win.block != nullptr && lane().arena().reserve(leader_peer(win), a.place + own.base, own.size);
}

void give_back_memory(Win& win) {
    if (win.helped) give_back_help();
    win.window.reset();
    if (win.block_is_mapped && win.block != nullptr)
        transport::shm::Arena::unmap(win.block, win.block_bytes);
    else if (win.block != nullptr)
        lane().arena().free(win.block);
    std::free(win.private_memory);
    const auto& segment = lane().shm().segment();
    const wire::WindowGeometry geometry{static_cast<uint32_t>(win.regions.size())};
    if (win.control != 0 && win.team().rank == win.leader)
        coll::give_board_memory_back(segment, win.control, geometry.total_bytes());
    if (win.comm != nullptr) release(*win.comm);
    if (win.errhandler != nullptr) release(win.errhandler);
    destroy(win);
}

// What each member says.
Err tell_all(Win& win, uint32_t mine, std::vector<uint32_t>& all) {
    all.resize(static_cast<size_t>(win.team().size));
    all[static_cast<size_t>(win.team().rank)] = mine;
    return coll::allgather(win.team(), all.data(), sizeof(uint32_t));
}

// All members have what they need, or none goes on.
Err agree(Win& win, bool good) {
    std::vector<uint32_t> all;
    if (const Err e = tell_all(win, good ? 1 : 0, all); e != Err::success) return e;
    const bool all_good = std::ranges::all_of(all, [](uint32_t one) { return one == 1; });
    return all_good ? Err::success : no_window_memory();
}

// Who cannot reach the memory of others needs them to serve it while they compute. When this returns, all
// members do.
Err settle_help(Win& win) {
    std::vector<uint32_t> all;
    const bool asks = win.window->reaches_by_messages();
    if (const Err e = tell_all(win, asks ? 1 : 0, all); e != Err::success) return e;
    win.helped = std::ranges::any_of(all, [](uint32_t one) { return one == 1; });
    if (win.helped) need_help();
    return Err::success;
}

// Every part of the block is seen here already; other parts when they are accessed.
void place_regions(Win& win, bool in_block) {
    for (int r = 0; in_block && r < win.team().size; ++r) {
        Region& region = win.regions[static_cast<size_t>(r)];
        region.place = 1; // not private
        if (on_this_node(win.team(), r)) region.base += reinterpret_cast<uint64_t>(win.block);
    }
    win.window = std::make_unique<Window>(win.team(), win.control, win.regions, window_codes);
    for (int r = 0; in_block && r < win.team().size; ++r) {
        if (!on_this_node(win.team(), r)) continue;
        const Region& region = win.regions[static_cast<size_t>(r)];
        // NOLINTNEXTLINE(performance-no-int-to-ptr): in the block
        win.window->set_direct(r, reinterpret_cast<std::byte*>(region.base));
    }
}

Err exchange_regions(const Wish& w, Comm& comm, Win& win) {
    const int n = comm.team.size;
    win.regions.resize(static_cast<size_t>(n));
    Region& own = win.regions[static_cast<size_t>(comm.team.rank)];
    own = {reinterpret_cast<uint64_t>(w.base), static_cast<uint64_t>(w.size), w.unit, 0, comm.team.rank, 0};
    if (w.flavor == WinFlavor::create) own.place = lane().arena().place_of(w.base, own.size);
    if (w.flavor == WinFlavor::dynamic) own.size = Window::everywhere;
    return coll::allgather(comm.team, win.regions.data(), sizeof(Region));
}

struct Findings {
    bool all_in_blocks = true;
    bool all_have_devices = false;
};

// What the first members of all nodes have taken; that of this node comes first.
Err announce(Win& win, const Wish& w, Comm& comm, Announcement& a, Findings& f) {
    const bool allocates = w.flavor == WinFlavor::allocate || w.flavor == WinFlavor::shared;
    if (allocates) a.block_bytes = lay_out(comm.team, win.regions, w.contiguous);
    if (comm.team.rank == 0) a.context = draw_context(comm.team.size);
    if (comm.team.rank == win.leader) take_memory(win, a);
    bool spans = false;
    for (int r = 0; r < comm.team.size; ++r) spans = spans || !on_this_node(comm.team, r);
    a.device = spans && !has_foreign(comm.team) && window_device() != nullptr ? 1 : 0;
    std::vector<Announcement> all(static_cast<size_t>(comm.team.size));
    all[static_cast<size_t>(comm.team.rank)] = a;
    if (const Err e = coll::allgather(comm.team, all.data(), sizeof a); e != Err::success) return e;
    a = all[static_cast<size_t>(win.leader)];
    a.context = all[0].context;
    const auto leads = [](const Announcement& one) { return one.control != 0; };
    f.all_have_devices = std::ranges::all_of(all, [](const Announcement& one) { return one.device != 0; });
    f.all_in_blocks = std::ranges::all_of(
        all, [&](const Announcement& one) { return !leads(one) || one.place != 0 || one.block_bytes == 0; });
    return Err::success;
}

Err fill(Win& win, const Wish& w, Comm& comm) {
    if (const Err e = exchange_regions(w, comm, win); e != Err::success) return e;
    const bool allocates = w.flavor == WinFlavor::allocate || w.flavor == WinFlavor::shared;
    win.leader = leader_of(comm.team);
    Announcement a{};
    Findings found;
    if (const Err e = announce(win, w, comm, a, found); e != Err::success) return e;
    if (a.context == 0) return no_context();
    proto::Team team = comm.team;
    team.context = a.context;
    team.collectives = 0;
    win.comm = make_comm(team, "", errors_are_fatal());
    if (win.comm == nullptr) return no_comm();
    win.context = a.context;
    win.peers = team.size;
    win.control = a.control;
    const bool good = a.control != 0 && find_memory(win, w, a);
    if (const Err e = agree(win, good); e != Err::success) return e;
    const bool in_block = allocates && (a.place != 0 || a.block_bytes == 0);
    if (allocates && !in_block) { // everybody here has private memory
        for (Region& r : win.regions) r.base = 0;
        win.regions[static_cast<size_t>(team.rank)].base = reinterpret_cast<uint64_t>(win.base);
    }
    if (!found.all_in_blocks)
        if (const Err e = coll::allgather(win.team(), win.regions.data(), sizeof(Region)); e != Err::success)
            return e;
    place_regions(win, in_block);
    if (found.all_have_devices)
        if (const Err e = win.window->use_device(*window_device()); e != Err::success) return e;
    const Region& own = win.regions[static_cast<size_t>(team.rank)];
    // NOLINTNEXTLINE(performance-no-int-to-ptr): own memory
    if (allocates) win.base = own.size != 0 ? reinterpret_cast<void*>(own.base) : nullptr;
    return settle_help(win);
}

Err make(const Wish& w, Info* info, Comm& comm, Win*& result) {
    if (const Err e = check(w, comm); e != Err::success) return e;
    Win* const win = make_win();
    if (win == nullptr) return fail(Err::no_mem, "free memory", "no memory for another window");
    win->flavor = w.flavor;
    win->base = w.base;
    win->bytes = w.size;
    win->unit = static_cast<int>(w.unit);
    win->errhandler = share(errors_are_fatal());
    win->hints = window_hints(info != nullptr ? hints_of(*info) : Hints());
    win->hints.set(memory_kinds_key, memory_kinds_of(comm.session));
    win->make_records(comm.team.size);
    const Err e = fill(*win, w, comm);
    if (e == Err::success)
        result = win;
    else
        give_back_memory(*win);
    return e;
}

bool wants(Info* info, const char* key) {
    const std::string* const value = info != nullptr ? hints_of(*info).find(key) : nullptr;
    return value != nullptr && *value == "true";
}

Err not_dynamic() {
    return fail(Err::rma_flavor, "call it on windows of MPI_Win_create_dynamic only",
                "memory cannot be attached to this window");
}

} // namespace

Err win_create(void* base, int64_t size, int64_t unit, Info* info, Comm& comm, Win*& win) {
    return make({WinFlavor::create, size, unit, base, false}, info, comm, win);
}

Err win_create_dynamic(Info* info, Comm& comm, Win*& win) {
    return make({WinFlavor::dynamic, 0, 1, nullptr, false}, info, comm, win);
}

Err win_allocate(int64_t size, int64_t unit, Info* info, Comm& comm, void*& base, Win*& win) {
    const Err e = make({WinFlavor::allocate, size, unit, nullptr, false}, info, comm, win);
    if (e == Err::success) base = win->base;
    return e;
}

Err win_allocate_shared(int64_t size, int64_t unit, Info* info, Comm& comm, void*& base, Win*& win) {
    const bool contiguous = !wants(info, "alloc_shared_noncontig");
    const Err e = make({WinFlavor::shared, size, unit, nullptr, contiguous}, info, comm, win);
    if (e == Err::success) base = win->base;
    return e;
}

Err win_attach(Win& win, void* base, int64_t size) {
    if (win.flavor != WinFlavor::dynamic) return not_dynamic();
    if (size < 0)
        return fail(Err::size, "pass a size of 0 or more", "size is %lld", static_cast<long long>(size));
    if (size == 0) return Err::success;
    if (base == nullptr) return fail(Err::base, "pass the address of your memory", "base is a null pointer");
    if (win.window->attach(reinterpret_cast<uint64_t>(base), static_cast<uint64_t>(size)))
        return Err::success;
    return fail(Err::rma_attach, "attach memory once, and detach it before it is freed",
                "the memory overlaps with some that is attached already");
}

Err win_detach(Win& win, const void* base) {
    if (win.flavor != WinFlavor::dynamic) return not_dynamic();
    if (win.window->detach(reinterpret_cast<uint64_t>(base))) return Err::success;
    return fail(Err::rma_attach, "pass an address that was given to MPI_Win_attach",
                "no memory is attached at this address");
}

// Memory that cannot be seen from here has no size.
Err win_shared_query(Win& win, int rank, int64_t& size, int64_t& unit, void*& base) {
    if (win.flavor == WinFlavor::dynamic)
        return fail(Err::rma_flavor, "call it on windows of other flavours",
                    "a dynamic window has no memory of its own");
    size = 0;
    unit = 1;
    base = nullptr;
    for (int r = 0; rank == proc_null && r < win.peers; ++r)
        if (win.window->target(r).size != 0) rank = r; // even if its memory cannot be seen from here
    if (rank == proc_null) return Err::success;
    const proto::rma::Target& t = win.window->target(rank);
    unit = t.unit;
    if (t.reach() != proto::rma::Reach::direct) return Err::success;
    size = static_cast<int64_t>(t.size);
    base = t.size != 0 ? t.base : nullptr;
    return Err::success;
}

Err win_free(Win*& win) {
    if (win->locks > 0 || win->all_locked || win->started || win->posted)
        return wrong_synchronisation("end all epochs before the window is freed",
                                     "the window is freed within an epoch");
    if (const Err e = win->attributes.erase_all(*win); e != Err::success) return e;
    win->window->flush_all();
    const Err e = coll::barrier(win->team());
    give_back_memory(*win);
    win = nullptr;
    return e;
}

} // namespace zipmpi::core
