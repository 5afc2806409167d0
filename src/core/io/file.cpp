// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// File objects: creation, attributes and queries.
#include "core/io/file.hpp"

#include "core/api/datatype.hpp"
#include "core/api/io.hpp"
#include "core/comm/comm_util.hpp"
#include "core/datatype/derived.hpp"
#include "core/group/group.hpp"
#include "core/io/collective_status.hpp"
#include "core/io/hints.hpp"
#include "core/io/posix_file.hpp"
#include "core/runtime_state.hpp"
#include "core/runtime_unlock_guard.hpp"
#include "proto/coll/coll.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>

namespace zipmpi::core {
namespace {

using namespace io;

Slab<File>& slab() {
    static auto* const s = new Slab<File>; // never destroyed: see slab.hpp
    return *s;
}

Err check_writable(const File& file) {
    if ((file.amode & mode_rdonly) == 0) return Err::success;
    return fail(Err::read_only, "open the file with MPI_MODE_RDWR or MPI_MODE_WRONLY",
                "%s was opened with MPI_MODE_RDONLY", file.name.c_str());
}

Err check_size(File& file, int64_t size) {
    if (const Err e = check_writable(file); e != Err::success) return e;
    if (const Err e = check_same(file, size, "size"); e != Err::success) return e;
    if (size < 0)
        return fail(Err::arg, "pass a size of 0 or more", "size is %lld", static_cast<long long>(size));
    return Err::success;
}

// A type handle for the application, which frees it unless it is predefined.
Err type_for_user(Datatype& type, Datatype*& result) {
    result = &type;
    return is_named(type) || type.derived->permanent ? Err::success : type_dup(type, result);
}

} // namespace

File* make_file() { return slab().make(); }
void destroy(File& file) { slab().destroy(file); }
File* file_by_index(uint32_t index) { return slab().find(index); }

Err file_get_amode(File& file, int& amode) {
    amode = file.amode;
    return Err::success;
}

Err file_get_group(File& file, Group*& group) { return make_group(members_of(file.team()), nullptr, group); }

Err file_get_info(File& file, Info*& info) { return make_info(file.hints, info); }

Err file_set_info(File& file, Info* info) {
    apply_hints(file, info);
    return Err::success;
}

Err file_get_size(File& file, int64_t& size) {
    struct stat about {};
    if (::fstat(file.fd.get(), &about) != 0) return system_error("get the status of", file.name.c_str());
    size = about.st_size;
    return Err::success;
}

Err file_set_size(File& file, int64_t size) {
    if (const Err e = check_size(file, size); e != Err::success) return e;
    Err e = Err::success;
    if (file.team().rank == 0 && ::ftruncate(file.fd.get(), size) != 0)
        e = system_error("set the size of", file.name.c_str());
    return root_status(file, e, "set the size of the file");
}

Err file_preallocate(File& file, int64_t size) {
    if (const Err e = check_size(file, size); e != Err::success) return e;
    Err e = Err::success;
    if (file.team().rank == 0 && size > 0) {
        errno = ::posix_fallocate(file.fd.get(), 0, size);
        if (errno != 0) e = system_error("preallocate", file.name.c_str());
    }
    return root_status(file, e, "preallocate the file");
}

Err file_set_atomicity(File& file, bool atomic) {
    const Err e = check_same(file, atomic ? 1 : 0, "flag");
    if (e == Err::success) file.atomic = atomic;
    return e;
}

Err file_get_atomicity(File& file, bool& atomic) {
    atomic = file.atomic;
    return Err::success;
}

Err file_sync(File& file) {
    Err e = Err::success;
    if ((file.amode & mode_rdonly) == 0) {
        const RuntimeUnlockGuard unlocked;
        if (::fsync(file.fd.get()) != 0) e = system_error("synchronize", file.name.c_str());
    }
    return collective_status(file, e, "synchronize the file");
}

Err file_set_view(File& file, int64_t displacement, Datatype& etype, Datatype& filetype,
                  const char* representation, Info* info) {
    if (file.split.active)
        return fail(Err::io, "end the split collective first", "a split collective access is in flight");
    const bool sequential = (file.amode & mode_sequential) != 0;
    Err e = Err::success;
    if (displacement == displacement_current && sequential) {
        int64_t at = 0;
        e = file.shared.get(at);
        displacement = file.view->file_offset_of(static_cast<uint64_t>(at * file.view->etype_bytes));
    } else if (displacement < 0 || displacement == displacement_current) {
        e = fail(Err::arg, "pass a displacement of 0 or more", "disp is %lld",
                 static_cast<long long>(displacement));
    }
    ViewPtr view;
    if (e == Err::success)
        e = make_view(displacement, etype, filetype, representation, (file.amode & mode_rdonly) == 0, view);
    if (e = collective_status(file, e, "set the view"); e != Err::success) return e;
    if (file.team().rank == 0) e = file.shared.set(0);
    if (e = root_status(file, e, "set the shared file pointer"); e != Err::success) return e;
    file.view = std::move(view);
    file.position = 0;
    apply_hints(file, info);
    return Err::success;
}

Err file_get_view(File& file, int64_t& displacement, Datatype*& etype, Datatype*& filetype,
                  std::string& representation) {
    displacement = file.view->displacement;
    representation = file.view->representation->name;
    if (const Err e = type_for_user(*file.view->etype, etype); e != Err::success) return e;
    return type_for_user(*file.view->filetype, filetype);
}

Err file_get_type_extent(File& file, Datatype& type, int64_t& extent) {
    TypeShare there;
    const Err e = type_in_file(*file.view->representation, type, there);
    if (e == Err::success) extent = there->extent;
    return e;
}

} // namespace zipmpi::core
