// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Creation and destruction of windows. All members exchange their parameters; the first member on each node
// allocates shared memory for the members there, which also keeps the regions of all members, and distributes
// its offset.
#include "core/comm/comm_util.hpp"
#include "core/info/launch_keys.hpp"
#include "core/progress_thread.hpp"
#include "core/runtime_state.hpp"
#include "core/win/accumulate_op.hpp"
#include "core/win/hints.hpp"
#include "core/win/rdma.hpp"
#include "core/win/win.hpp"
#include "proto/coll/coll.hpp"
#include "proto/coll/shm/coll_memory.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "proto/rma/rdma_context.hpp"

#include <algorithm>
#include <cstdlib>

namespace zipmpi::core {
namespace {

namespace coll = proto::coll;
using proto::rma::Region;
using proto::rma::Window;

// Exchanged by all members: control and block are set by the first member on each node, context and policy by
// rank 0.
struct WinInfo {
    uint32_t context;      // 0: none
    uint32_t has_rdma;     // nonzero: this member has an RDMA device, and the window spans hosts
    uint64_t control;      // 0: out of memory
    uint64_t block_offset; // block of the members on the node; 0: none
    uint64_t block_bytes;
    proto::rma::WindowPolicy policy; // of rank 0 for all members
};

// Arguments of a window creation call.
struct WinArgs {
    WinFlavor flavor;
    int64_t size;
    int64_t unit;
    void* base;
    bool contiguous;
};

Err no_window_memory() {
    return fail(Err::no_mem, "free windows or communicators, or start fewer ranks",
                "no shared memory for another window");
}

bool on_this_node(const proto::Team& team, int rank) {
    return progress_engine().peers().on_this_node(team.map.world(rank));
}

// The first member on this node.
int leader_of(const proto::Team& team) {
    int r = 0;
    while (!on_this_node(team, r)) ++r;
    return r;
}

transport::Peer leader_peer(const Win& win) {
    return static_cast<transport::Peer>(
        progress_engine().shm().peer_of(win.comm->team.map.world(win.memory.leader)));
}

Err check(const WinArgs& w, const Comm& comm) {
    if (comm.inter()) return intracomm_required(comm);
    if (w.size < 0)
        return fail(Err::size, "pass a size of 0 or more", "size is %lld", static_cast<long long>(w.size));
    if (w.unit <= 0)
        return fail(Err::disp, "pass a displacement unit of 1 or more", "disp_unit is %lld",
                    static_cast<long long>(w.unit));
    if (w.flavor == WinFlavor::create && w.base == nullptr && w.size > 0)
        return fail(Err::base, "pass the address of your memory, or a size of 0", "base is a null pointer");
    for (int r = 0; w.flavor == WinFlavor::shared && r < comm.team.size; ++r)
        if (!on_this_node(comm.team, r))
            return fail(Err::rma_shared,
                        "use a communicator within one host, such as one created by MPI_Comm_split_type",
                        "rank %d of the communicator is on another host", r);
    return Err::success;
}

// Assigns the offsets of the members on this node and returns the total size: adjacent if contiguous,
// otherwise page-aligned.
uint64_t assign_offsets(const proto::Team& team, std::vector<Region>& regions, bool contiguous) {
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

void allocate_memory(Win& win, WinInfo& a) {
    const auto& segment = progress_engine().shm().segment();
    a.control = coll::allocate_coll_memory(segment, win.memory.control_bytes);
    if (a.control != 0) std::memset(segment.coll_memory(a.control), 0, win.memory.control_bytes);
    if (a.block_bytes == 0) return;
    win.memory.block = static_cast<std::byte*>(progress_engine().arena().allocate_unreserved(a.block_bytes));
    if (win.memory.block != nullptr)
        a.block_offset = progress_engine().arena().offset_of(win.memory.block, a.block_bytes);
}

// Maps the shared block, or allocates private memory instead.
bool attach_memory(Win& win, const WinArgs& w, const WinInfo& a) {
    const bool allocates = w.flavor == WinFlavor::allocate || w.flavor == WinFlavor::shared;
    if (!allocates || a.block_bytes == 0) return true;
    win.memory.block_bytes = a.block_bytes;
    if (a.block_offset == 0) {
        if (w.flavor == WinFlavor::shared) return false;
        constexpr size_t line = 64;
        const auto bytes = static_cast<size_t>(w.size);
        win.memory.private_memory =
            std::aligned_alloc(line, std::max(line, (bytes + line - 1) / line * line));
        win.memory.base = win.memory.private_memory;
        return win.memory.base != nullptr;
    }
    if (win.team().rank != win.memory.leader) {
        win.memory.block = progress_engine().arena().map(leader_peer(win), a.block_offset, a.block_bytes);
        win.memory.block_is_mapped = true;
    }
    // Every process touches its own part first: all in parallel, and with NUMA-local pages.
    const Region& own = win.regions[static_cast<size_t>(win.team().rank)];
    return win.memory.block != nullptr &&
           progress_engine().arena().reserve(leader_peer(win), a.block_offset + own.base, own.size);
}

void release_window(Win& win) {
    if (win.needs_progress_thread) release_progress_thread();
    win.window.reset();
    if (win.memory.block_is_mapped && win.memory.block != nullptr)
        transport::shm::Arena::unmap(win.memory.block, win.memory.block_bytes);
    else if (win.memory.block != nullptr)
        progress_engine().arena().free(win.memory.block);
    std::free(win.memory.private_memory);
    const auto& segment = progress_engine().shm().segment();
    if (win.memory.control != 0 && win.team().rank == win.memory.leader)
        coll::free_coll_memory(segment, win.memory.control, win.memory.control_bytes);
    if (win.comm != nullptr) release(*win.comm);
    if (win.errhandler != nullptr) release(win.errhandler);
    destroy(win);
}

// Other members may still use it: after a failure nothing tells when they have finished.
void keep_shared_memory(Win& win) {
    win.memory.control = 0;
    if (!win.memory.block_is_mapped) win.memory.block = nullptr;
}

// Allgather of one value per member.
Err allgather_value(Win& win, uint32_t value, std::vector<uint32_t>& all) {
    all.resize(static_cast<size_t>(win.team().size));
    all[static_cast<size_t>(win.team().rank)] = value;
    return coll::allgather(win.team(), all.data(), sizeof(uint32_t));
}

// Succeeds only if all members succeeded.
Err check_all_succeeded(Win& win, bool good) {
    std::vector<uint32_t> all;
    if (const Err e = allgather_value(win, good ? 1 : 0, all); e != Err::success) return e;
    const bool all_good = std::ranges::all_of(all, [](uint32_t one) { return one == 1; });
    return all_good ? Err::success : no_window_memory();
}

// A process that cannot access the memory of others directly needs them to serve its requests while they
// compute, unless all of them will synchronize (no_locks). All members agree whether any of them needs it;
// each then starts its own progress thread.
Err agree_on_progress_thread(Win& win) {
    std::vector<uint32_t> all;
    const bool has_passive_targets = win.policy.passive == proto::rma::WindowPolicy::Passive::allowed;
    const bool needs_service = has_passive_targets && win.window->needs_am();
    if (const Err e = allgather_value(win, needs_service ? 1 : 0, all); e != Err::success) return e;
    win.needs_progress_thread = std::ranges::any_of(all, [](uint32_t one) { return one == 1; });
    if (win.needs_progress_thread) acquire_progress_thread();
    return Err::success;
}

// Regions in the block are already mapped; others are mapped on first access.
void init_regions(Win& win, bool in_block) {
    if (in_block)
        for (Region& region : win.regions) region.arena_offset = 1; // not private
    win.window =
        std::make_unique<Window>(win.team(), win.memory.control, win.regions, window_op_decoder, win.policy);
    if (in_block) win.window->use_mapped_block(win.memory.block);
    if (win.team().rank == win.memory.leader) win.window->share_regions();
}

// After an exchange that follows share_regions() of all members.
void release_private_regions(Win& win) {
    win.window->use_shared_regions();
    std::vector<Region>().swap(win.regions); // an assignment would keep the memory
}

Err exchange_regions(const WinArgs& w, Comm& comm, Win& win) {
    const int n = comm.team.size;
    win.regions.resize(static_cast<size_t>(n));
    Region& own = win.regions[static_cast<size_t>(comm.team.rank)];
    own = {reinterpret_cast<uint64_t>(w.base), static_cast<uint64_t>(w.size), w.unit, 0, comm.team.rank, 0};
    if (w.flavor == WinFlavor::create)
        own.arena_offset = progress_engine().arena().offset_of(w.base, own.size);
    if (w.flavor == WinFlavor::dynamic) own.size = Region::dynamic_size;
    return coll::allgather(comm.team, win.regions.data(), sizeof(Region));
}

struct WinSummary {
    bool all_in_blocks = true;
    bool all_have_rdma = false;
};

// Allgather of the WinInfo of all members; `a` becomes that of the first member on this node, with the
// context and policy of rank 0.
Err exchange_win_info(Win& win, const WinArgs& w, Comm& comm, WinInfo& a, WinSummary& f) {
    const bool allocates = w.flavor == WinFlavor::allocate || w.flavor == WinFlavor::shared;
    if (allocates) a.block_bytes = assign_offsets(comm.team, win.regions, w.contiguous);
    if (comm.team.rank == 0) a.context = allocate_context(comm.team.size);
    uint32_t here = 0;
    for (int r = 0; r < comm.team.size; ++r) here += on_this_node(comm.team, r) ? 1 : 0;
    const auto members = static_cast<uint32_t>(comm.team.size);
    win.memory.control_bytes = wire::WindowGeometry{here, members}.total_bytes();
    if (comm.team.rank == win.memory.leader) allocate_memory(win, a);
    a.has_rdma = here != members && !has_external(comm.team) && window_rdma_context() != nullptr ? 1 : 0;
    std::vector<WinInfo> all(static_cast<size_t>(comm.team.size));
    all[static_cast<size_t>(comm.team.rank)] = a;
    if (const Err e = coll::allgather(comm.team, all.data(), sizeof a); e != Err::success) return e;
    a = all[static_cast<size_t>(win.memory.leader)];
    a.context = all[0].context;
    a.policy = all[0].policy;
    const auto leads = [](const WinInfo& one) { return one.control != 0; };
    f.all_have_rdma = std::ranges::all_of(all, [](const WinInfo& one) { return one.has_rdma != 0; });
    f.all_in_blocks = std::ranges::all_of(all, [&](const WinInfo& one) {
        return !leads(one) || one.block_offset != 0 || one.block_bytes == 0;
    });
    return Err::success;
}

Err fill(Win& win, const WinArgs& w, Comm& comm) {
    if (const Err e = exchange_regions(w, comm, win); e != Err::success) return e;
    const bool allocates = w.flavor == WinFlavor::allocate || w.flavor == WinFlavor::shared;
    win.memory.leader = leader_of(comm.team);
    WinInfo a{};
    a.policy = policy_of(win.hints);
    WinSummary found;
    if (const Err e = exchange_win_info(win, w, comm, a, found); e != Err::success) return e;
    if (a.context == 0) return context_exhausted();
    win.policy = a.policy;
    set_policy_hints(win.policy, win.hints);
    proto::Team team = comm.team;
    team.context = a.context;
    team.collectives = 0;
    win.comm = make_comm(team, "", errors_are_fatal());
    if (win.comm == nullptr) return comm_alloc_error();
    win.context = a.context;
    win.peer_count = team.size;
    win.memory.control = a.control;
    const bool good = a.control != 0 && attach_memory(win, w, a);
    if (const Err e = check_all_succeeded(win, good); e != Err::success) return e;
    const bool in_block = allocates && (a.block_offset != 0 || a.block_bytes == 0);
    if (allocates && !in_block) { // private memory on all members of this node
        for (Region& r : win.regions) r.base = 0;
        win.regions[static_cast<size_t>(team.rank)].base = reinterpret_cast<uint64_t>(win.memory.base);
    }
    if (in_block)
        win.memory.base =
            w.size != 0 ? win.memory.block + win.regions[static_cast<size_t>(team.rank)].base : nullptr;
    if (!found.all_in_blocks)
        if (const Err e = coll::allgather(win.team(), win.regions.data(), sizeof(Region)); e != Err::success)
            return e;
    init_regions(win, in_block);
    if (found.all_have_rdma)
        if (const Err e = win.window->use_rdma(*window_rdma_context()); e != Err::success) return e;
    if (const Err e = agree_on_progress_thread(win); e != Err::success) return e;
    release_private_regions(win);
    return Err::success;
}

Err make(const WinArgs& w, Info* info, Comm& comm, Win*& result) {
    if (const Err e = check(w, comm); e != Err::success) return e;
    Win* const win = make_win();
    if (win == nullptr) return fail(Err::no_mem, "free memory", "no memory for another window");
    win->flavor = w.flavor;
    win->memory.base = w.base;
    win->memory.bytes = w.size;
    win->memory.unit = static_cast<int>(w.unit);
    win->errhandler = share(errors_are_fatal());
    win->hints = window_hints(info != nullptr ? hints_of(*info) : Hints());
    win->hints.set(memory_kinds_key, memory_kinds_of(comm.session));
    win->make_caches(comm.team.size);
    const Err e = fill(*win, w, comm);
    if (e == Err::success) {
        result = win;
        return e;
    }
    if (win->window != nullptr) keep_shared_memory(*win); // other members may have succeeded
    release_window(*win);
    return e;
}

bool is_hint_true(Info* info, const char* key) {
    const std::string* const value = info != nullptr ? hints_of(*info).find(key) : nullptr;
    return value != nullptr && *value == "true";
}

Err not_dynamic() {
    return fail(Err::rma_flavor, "call it only on windows created by MPI_Win_create_dynamic",
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
    if (e == Err::success) base = win->memory.base;
    return e;
}

Err win_allocate_shared(int64_t size, int64_t unit, Info* info, Comm& comm, void*& base, Win*& win) {
    const bool contiguous = !is_hint_true(info, "alloc_shared_noncontig");
    const Err e = make({WinFlavor::shared, size, unit, nullptr, contiguous}, info, comm, win);
    if (e == Err::success) base = win->memory.base;
    return e;
}

Err win_attach(Win& win, void* base, int64_t size) {
    if (win.flavor != WinFlavor::dynamic) return not_dynamic();
    if (size < 0)
        return fail(Err::size, "pass a size of 0 or more", "size is %lld", static_cast<long long>(size));
    if (size == 0) return Err::success;
    if (base == nullptr) return fail(Err::base, "pass the address of your memory", "base is a null pointer");
    if (win.window->attached().attach(reinterpret_cast<uint64_t>(base), static_cast<uint64_t>(size)))
        return Err::success;
    return fail(Err::rma_attach, "attach memory once, and detach it before it is freed",
                "the memory overlaps with attached memory");
}

Err win_detach(Win& win, const void* base) {
    if (win.flavor != WinFlavor::dynamic) return not_dynamic();
    if (win.window->attached().detach(reinterpret_cast<uint64_t>(base))) return Err::success;
    return fail(Err::rma_attach, "pass an address that was passed to MPI_Win_attach",
                "no memory is attached at this address");
}

// Memory that is not mapped here is reported with size 0.
Err win_shared_query(Win& win, int rank, int64_t& size, int64_t& unit, void*& base) {
    if (win.flavor == WinFlavor::dynamic)
        return fail(Err::rma_flavor, "call it on windows of another flavor",
                    "a dynamic window has no base memory");
    size = 0;
    unit = 1;
    base = nullptr;
    for (int r = 0; rank == proc_null && r < win.peer_count; ++r)
        if (win.window->target(r).size != 0) rank = r; // even if its memory is not mapped here
    if (rank == proc_null) return Err::success;
    const proto::rma::Target& t = win.window->target(rank);
    unit = t.disp_unit;
    if (t.path() != proto::rma::AccessPath::shared) return Err::success;
    size = static_cast<int64_t>(t.size);
    base = t.size != 0 ? t.base : nullptr;
    return Err::success;
}

Err win_free(Win*& win) {
    if (win->epochs.locks > 0 || win->all_locked || win->epochs.started || win->epochs.posted ||
        win->epochs.pending_syncs > 0)
        return wrong_synchronization("end all epochs before the window is freed",
                                     "the window is freed within an epoch");
    if (const Err e = win->attributes.erase_all(*win); e != Err::success) return e;
    win->window->flush_all();
    const Err e = coll::barrier(win->team());
    if (e != Err::success) keep_shared_memory(*win);
    release_window(*win);
    win = nullptr;
    return e;
}

} // namespace zipmpi::core
