// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Opening, closing and removing files. Rank 0 opens or creates the file, then the others open it. The file is
// open on all processes or on none.
#include "core/api/io.hpp"
#include "core/comm/comm_util.hpp"
#include "core/info/launch_keys.hpp"
#include "core/io/collective_status.hpp"
#include "core/io/hints.hpp"
#include "core/io/posix_file.hpp"
#include "core/runtime_state.hpp"
#include "proto/coll/coll.hpp"
#include "proto/p2p/progress_engine.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>

namespace zipmpi::core {
namespace {

namespace coll = proto::coll;
using namespace io;

// Data that processes exchange before the file is opened.
struct OpenInfo {
    int32_t amode;
    Err error;        // from argument checks
    uint32_t context; // allocated by rank 0
    int32_t leader;   // first process on its node
};

Err bad_amode(const char* why) {
    return fail(Err::amode,
                "pass one of MPI_MODE_RDONLY, MPI_MODE_WRONLY, MPI_MODE_RDWR and compatible flags", "%s",
                why);
}

Err check_amode(int amode) {
    constexpr int valid_bits = mode_append | mode_create | mode_delete_on_close | mode_excl | mode_rdonly |
                               mode_rdwr | mode_sequential | mode_unique_open | mode_wronly;
    const int access_bits = amode & (mode_rdonly | mode_wronly | mode_rdwr);
    if ((amode & ~valid_bits) != 0) return bad_amode("amode has unknown bits");
    if (access_bits == 0 || (access_bits & (access_bits - 1)) != 0)
        return bad_amode("amode must have exactly one access mode");
    if (access_bits == mode_rdonly && (amode & (mode_create | mode_excl)) != 0)
        return bad_amode("MPI_MODE_CREATE and MPI_MODE_EXCL cannot be combined with MPI_MODE_RDONLY");
    if (access_bits == mode_rdwr && (amode & mode_sequential) != 0)
        return bad_amode("MPI_MODE_SEQUENTIAL cannot be combined with MPI_MODE_RDWR");
    return Err::success;
}

int first_rank_on_node(const proto::Team& team) {
    int r = 0;
    while (!progress_engine().peers().on_this_node(team.map.world(r))) ++r;
    return r;
}

// The first process of each node, then the second ones, and so on.
void choose_aggregators(File& file, const std::vector<OpenInfo>& all) {
    std::vector<std::pair<int, int>> order; // index on its node, rank
    std::vector<int> seen(all.size(), 0);
    int nodes = 0;
    for (size_t r = 0; r < all.size(); ++r) {
        int& turn = seen[static_cast<size_t>(all[r].leader)];
        if (turn == 0) ++nodes;
        order.emplace_back(turn++, static_cast<int>(r));
    }
    std::ranges::sort(order);
    for (const auto& [turn, rank] : order) file.aggregators.push_back(rank);
    file.single_host = nodes == 1;
    constexpr int64_t per_node = 4;
    file.io_hints.aggregators = std::min<int64_t>(per_node * nodes, static_cast<int64_t>(all.size()));
}

// Exchanges OpenInfo and creates the communicator of the file.
Err make_file_comm(Comm& comm, int amode, File& file) {
    std::vector<OpenInfo> all(static_cast<size_t>(comm.team.size));
    OpenInfo& own = all[static_cast<size_t>(comm.team.rank)];
    own = {amode, check_amode(amode), 0, first_rank_on_node(comm.team)};
    if (comm.team.rank == 0) own.context = allocate_context(comm.team.size);
    const Err refused = own.error;
    if (const Err e = coll::allgather(comm.team, all.data(), sizeof(OpenInfo)); e != Err::success) return e;
    if (all[0].context == 0) return context_exhausted();
    proto::Team team = comm.team;
    team.context = all[0].context;
    team.collectives = 0;
    file.comm = make_comm(team, "", errors_return());
    if (file.comm == nullptr) return comm_alloc_error();
    if (refused != Err::success) return refused;
    for (const OpenInfo& g : all)
        if (g.error != Err::success || g.amode != amode)
            return fail(Err::not_same, "pass equal values on all processes",
                        "amode differs between processes");
    choose_aggregators(file, all);
    return Err::success;
}

int flags_of(int amode) {
    if ((amode & mode_rdonly) != 0) return O_RDONLY;
    return O_RDWR; // holes must be read before they are rewritten
}

// Only rank 0 creates the file.
Err open_local(File& file, unsigned permissions, bool creates) {
    int flags = flags_of(file.amode) | O_CLOEXEC;
    if (creates && (file.amode & mode_create) != 0) flags |= O_CREAT;
    if (creates && (file.amode & mode_excl) != 0) flags |= O_EXCL;
    file.fd.reset(::open(file.name.c_str(), flags, permissions));
    if (!file.fd && errno == EACCES && (file.amode & mode_wronly) != 0) {
        file.readable = false;
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

Err open_all(File& file, Info* info) {
    const unsigned permissions = permissions_of(info);
    const bool first = file.team().rank == 0;
    Err own_error = first ? open_local(file, permissions, true) : Err::success;
    if (const Err e = root_status(file, own_error, "open the file"); e != Err::success) return e;
    if (!first) own_error = open_local(file, permissions, false);
    return collective_status(file, own_error, "open the file");
}

Err init_pointers(File& file) {
    if (const Err e = file.shared.open(file.team(), file.name); e != Err::success) return e;
    if (const Err e =
            make_view(0, builtin_type(TypeId::BYTE), builtin_type(TypeId::BYTE), "native", true, file.view);
        e != Err::success)
        return e;
    if ((file.amode & mode_append) == 0) return Err::success;
    struct stat about {};
    Err e = ::fstat(file.fd.get(), &about) == 0 ? Err::success
                                                : system_error("get the status of", file.name.c_str());
    file.position = about.st_size;
    if (e == Err::success && file.team().rank == 0) e = file.shared.set(file.position);
    return collective_status(file, e, "set the shared file pointer");
}

Err fill(File& file, Comm& comm, const char* name, int amode, Info* info) {
    file.name = name;
    file.amode = amode;
    file.errhandler = share(default_file_errhandler());
    if (const Err e = make_file_comm(comm, amode, file); e != Err::success) return e;
    apply_hints(file, info);
    file.hints.set(memory_kinds_key, memory_kinds_of(comm.session));
    if (const Err e = open_all(file, info); e != Err::success) return e;
    return init_pointers(file);
}

void release_file(File& file) {
    if (file.comm != nullptr) release(*file.comm);
    if (file.errhandler != nullptr) release(file.errhandler);
    destroy(file);
}

} // namespace

Err file_open(Comm& comm, const char* name, int amode, Info* info, File*& result) {
    if (comm.inter()) return intracomm_required(comm);
    File* const file = make_file();
    if (file == nullptr) return fail(Err::no_mem, "free memory", "no memory for another file");
    const Err e = fill(*file, comm, name, amode, info);
    if (e == Err::success)
        result = file;
    else
        release_file(*file);
    return e;
}

Err file_close(File*& file) {
    if (file->split.active)
        return fail(Err::io, "end the split collective first", "a split collective access is in flight");
    Err e = coll::barrier(file->team());
    file->fd.reset();
    file->shared.close(file->team());
    if ((file->amode & mode_delete_on_close) != 0) {
        Err removed = Err::success;
        if (file->team().rank == 0 && ::unlink(file->name.c_str()) != 0)
            removed = system_error("remove", file->name.c_str());
        e = root_status(*file, removed, "remove the file");
    }
    release_file(*file);
    file = nullptr;
    return e;
}

Err file_delete(const char* name, Info*) {
    return ::unlink(name) == 0 ? Err::success : system_error("remove", name);
}

} // namespace zipmpi::core
