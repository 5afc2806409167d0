// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// File pointers: seek and position queries.
#include "core/api/io.hpp"
#include "core/io/collective_status.hpp"
#include "core/io/file.hpp"

namespace zipmpi::core {
namespace {

using namespace io;

Err check_not_sequential(const File& file) {
    if ((file.amode & mode_sequential) == 0) return Err::success;
    return fail(Err::unsupported_operation,
                "use the shared file pointer, or open without MPI_MODE_SEQUENTIAL",
                "%s was opened with MPI_MODE_SEQUENTIAL", file.name.c_str());
}

// End of the file in etypes of the view: after the last etype that begins in the file.
Err end_in_etypes(File& file, int64_t& etypes) {
    int64_t size = 0;
    if (const Err e = file_get_size(file, size); e != Err::success) return e;
    const auto bytes = static_cast<int64_t>(file.view->bytes_before(size));
    etypes = (bytes + file.view->etype_bytes - 1) / file.view->etype_bytes;
    return Err::success;
}

// Target position of a seek from `current`.
Err seek_target(File& file, int64_t current, int64_t offset, Seek whence, int64_t& target) {
    int64_t base = 0;
    if (whence == Seek::current) base = current;
    if (whence == Seek::end)
        if (const Err e = end_in_etypes(file, base); e != Err::success) return e;
    target = base + offset;
    if (target >= 0) return Err::success;
    return fail(Err::arg, "seek to a position of 0 or more", "the position would be %lld",
                static_cast<long long>(target));
}

} // namespace

Err file_seek(File& file, int64_t offset, Seek whence) {
    if (const Err e = check_not_sequential(file); e != Err::success) return e;
    int64_t target = 0;
    const Err e = seek_target(file, file.position, offset, whence, target);
    if (e == Err::success) file.position = target;
    return e;
}

Err file_get_position(File& file, int64_t& offset) {
    if (const Err e = check_not_sequential(file); e != Err::success) return e;
    offset = file.position;
    return Err::success;
}

Err file_get_byte_offset(File& file, int64_t offset, int64_t& displacement) {
    if (const Err e = check_not_sequential(file); e != Err::success) return e;
    if (offset < 0)
        return fail(Err::arg, "pass an offset of 0 or more", "offset is %lld",
                    static_cast<long long>(offset));
    displacement = file.view->file_offset_of(static_cast<uint64_t>(offset * file.view->etype_bytes));
    return Err::success;
}

Err file_seek_shared(File& file, int64_t offset, Seek whence) {
    if (const Err e = check_same(file, offset, "offset"); e != Err::success) return e;
    if (const Err e = check_same(file, static_cast<int64_t>(whence), "whence"); e != Err::success) return e;
    Err e = Err::success;
    if (file.team().rank == 0) {
        int64_t at = 0;
        e = file.shared.get(at);
        if (e == Err::success) e = seek_target(file, at, offset, whence, at);
        if (e == Err::success) e = file.shared.set(at);
    }
    return root_status(file, e, "move the shared file pointer");
}

Err file_get_position_shared(File& file, int64_t& offset) { return file.shared.get(offset); }

} // namespace zipmpi::core
