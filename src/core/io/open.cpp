// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Opening, closing and removing files. The first process opens the file, and creates it; then the others do.
// All of them have it open, or none has.
#include "core/comm/make.hpp"
#include "core/info/at_launch.hpp"
#include "core/io/agree.hpp"
#include "core/io/hints.hpp"
#include "core/io/store.hpp"
#include "core/state.hpp"
#include "proto/coll/coll.hpp"
#include "proto/p2p/lane.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>

namespace zipmpi::core {
namespace {

namespace coll = proto::coll;
using namespace io;

// What each process says before anything is opened.
struct Greeting {
    int32_t amode;
    Err error;        // of its arguments
    uint32_t context; // drawn by the first one
    int32_t leader;   // the first process on its node
};

Err bad_amode(const char* why) {
    return fail(Err::amode,
                "pass one of MPI_MODE_RDONLY, MPI_MODE_WRONLY, MPI_MODE_RDWR and what goes with it", "%s",
                why);
}

Err check_amode(int amode) {
    constexpr int known = mode_append | mode_create | mode_delete_on_close | mode_excl | mode_rdonly |
                          mode_rdwr | mode_sequential | mode_unique_open | mode_wronly;
    const int ways = amode & (mode_rdonly | mode_wronly | mode_rdwr);
    if ((amode & ~known) != 0) return bad_amode("amode has bits that mean nothing");
    if (ways == 0 || (ways & (ways - 1)) != 0)
        return bad_amode("amode must say once how the file is accessed");
    if (ways == mode_rdonly && (amode & (mode_create | mode_excl)) != 0)
        return bad_amode("a file that is only read cannot be created");
    if (ways == mode_rdwr && (amode & mode_sequential) != 0)
        return bad_amode("MPI_MODE_SEQUENTIAL does not go with MPI_MODE_RDWR");
    return Err::success;
}

int first_here(const proto::Team& team) {
    int r = 0;
    while (!lane().on_this_node(team.map.world(r))) ++r;
    return r;
}

// The first process of each node, then the second ones, ...
void choose_aggregators(File& file, const std::vector<Greeting>& all) {
    std::vector<std::pair<int, int>> order; // turn, rank
    std::vector<int> seen(all.size(), 0);
    int nodes = 0;
    for (size_t r = 0; r < all.size(); ++r) {
        int& turn = seen[static_cast<size_t>(all[r].leader)];
        if (turn == 0) ++nodes;
        order.emplace_back(turn++, static_cast<int>(r));
    }
    std::ranges::sort(order);
    for (const auto& [turn, rank] : order) file.aggregators.push_back(rank);
    file.on_one_host = nodes == 1;
    constexpr int64_t per_node = 4;
    file.tuning.aggregators = std::min<int64_t>(per_node * nodes, static_cast<int64_t>(all.size()));
}

// The processes get to know each other, and a communicator of their own.
Err make_comm_of_file(Comm& comm, int amode, File& file) {
    std::vector<Greeting> all(static_cast<size_t>(comm.team.size));
    Greeting& own = all[static_cast<size_t>(comm.team.rank)];
    own = {amode, check_amode(amode), 0, first_here(comm.team)};
    if (comm.team.rank == 0) own.context = draw_context(comm.team.size);
    const Err refused = own.error;
    if (const Err e = coll::allgather(comm.team, all.data(), sizeof(Greeting)); e != Err::success) return e;
    if (all[0].context == 0) return no_context();
    proto::Team team = comm.team;
    team.context = all[0].context;
    team.collectives = 0;
    file.comm = make_comm(team, "", errors_return());
    if (file.comm == nullptr) return no_comm();
    if (refused != Err::success) return refused;
    for (const Greeting& g : all)
        if (g.error != Err::success || g.amode != amode)
            return fail(Err::not_same, "pass the same amode on all processes",
                        "amode is not the same everywhere");
    choose_aggregators(file, all);
    return Err::success;
}

int flags_of(int amode) {
    if ((amode & mode_rdonly) != 0) return O_RDONLY;
    return O_RDWR; // gaps must be read before they are written again
}

// Only the first process creates the file.
Err open_here(File& file, unsigned permissions, bool creates) {
    int flags = flags_of(file.amode) | O_CLOEXEC;
    if (creates && (file.amode & mode_create) != 0) flags |= O_CREAT;
    if (creates && (file.amode & mode_excl) != 0) flags |= O_EXCL;
    file.fd.reset(::open(file.name.c_str(), flags, permissions));
    if (!file.fd && errno == EACCES && (file.amode & mode_wronly) != 0) {
        file.gaps_can_be_read = false;
        file.fd.reset(::open(file.name.c_str(), (flags & ~O_ACCMODE) | O_WRONLY, permissions));
    }
    if (!file.fd) return system_error("open", file.name.c_str());
    struct stat about {};
    if (::fstat(file.fd.get(), &about) == 0 && S_ISDIR(about.st_mode)) {
        errno = EISDIR;
        return system_error("open", file.name.c_str());
    }
    return Err::success;
}

Err open_everywhere(File& file, Info* info) {
    const unsigned permissions = permissions_of(info);
    const bool first = file.team().rank == 0;
    Err mine = first ? open_here(file, permissions, true) : Err::success;
    if (const Err e = agree_with_first(file, mine, "open the file"); e != Err::success) return e;
    if (!first) mine = open_here(file, permissions, false);
    return agree(file, mine, "open the file");
}

Err start_pointers(File& file) {
    if (const Err e = file.shared.open(file.team(), file.name); e != Err::success) return e;
    if (const Err e =
            make_view(0, builtin_type(TypeId::BYTE), builtin_type(TypeId::BYTE), "native", true, file.view);
        e != Err::success)
        return e;
    if ((file.amode & mode_append) == 0) return Err::success;
    struct stat about {};
    Err e = ::fstat(file.fd.get(), &about) == 0 ? Err::success : system_error("look at", file.name.c_str());
    file.position = about.st_size;
    if (e == Err::success && file.team().rank == 0) e = file.shared.set(file.position);
    return agree(file, e, "set the shared file pointer");
}

Err fill(File& file, Comm& comm, const char* name, int amode, Info* info) {
    file.name = name;
    file.amode = amode;
    file.errhandler = share(handler_of_new_files());
    if (const Err e = make_comm_of_file(comm, amode, file); e != Err::success) return e;
    take_hints(file, info);
    file.hints.set(memory_kinds_key, memory_kinds_of(comm.session));
    if (const Err e = open_everywhere(file, info); e != Err::success) return e;
    return start_pointers(file);
}

void give_back(File& file) {
    if (file.comm != nullptr) release(*file.comm);
    if (file.errhandler != nullptr) release(file.errhandler);
    destroy(file);
}

} // namespace

Err file_open(Comm& comm, const char* name, int amode, Info* info, File*& result) {
    if (comm.inter()) return not_intra(comm);
    File* const file = make_file();
    if (file == nullptr) return fail(Err::no_mem, "free memory", "no memory for another file");
    const Err e = fill(*file, comm, name, amode, info);
    if (e == Err::success)
        result = file;
    else
        give_back(*file);
    return e;
}

Err file_close(File*& file) {
    if (file->split.active)
        return fail(Err::io, "end the split collective first", "a split collective access is under way");
    Err e = coll::barrier(file->team());
    file->fd.reset();
    file->shared.close(file->team());
    if ((file->amode & mode_delete_on_close) != 0) {
        Err removed = Err::success;
        if (file->team().rank == 0 && ::unlink(file->name.c_str()) != 0)
            removed = system_error("remove", file->name.c_str());
        e = agree_with_first(*file, removed, "remove the file");
    }
    give_back(*file);
    file = nullptr;
    return e;
}

Err file_delete(const char* name, Info*) {
    return ::unlink(name) == 0 ? Err::success : system_error("remove", name);
}

} // namespace zipmpi::core
