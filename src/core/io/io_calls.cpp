// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Read and write calls: combinations of positioning, collectiveness and completion.
//
// A nonblocking call has moved its data when it returns, without the other processes: this also satisfies a
// collective one, which must not wait for others. A split collective executes in its begin call, where
// processes may wait for each other.
#include "core/api/io.hpp"
#include "core/io/access.hpp"
#include "core/p2p/p2p.hpp"
#include "core/request/request.hpp"
#include "core/runtime_state.hpp"

namespace zipmpi::core {
namespace {

using namespace io;

Err split_is_active() {
    return fail(Err::io, "end it first", "a split collective access of this file is in flight");
}

Err access_blocking(File& file, const Access& access, Status* status) {
    if (access.collective && file.split.active) return split_is_active();
    Status ignored;
    return perform(file, access, status != nullptr ? *status : ignored);
}

Err access_nonblocking(File& file, const Access& access, Request*& request) {
    Status status;
    if (const Err e = perform(file, access, status); e != Err::success) return e;
    proto::Operation done;
    done.kind = proto::Operation::Kind::recv; // its status has a count
    done.matched_source = any_source;
    done.matched_tag = any_tag;
    done.received = static_cast<uint64_t>(status.bytes);
    done.complete = true;
    request = make_request(done, nullptr, builtin_type(TypeId::BYTE));
    return request != nullptr ? Err::success : request_alloc_error();
}

Err begin_split(File& file, const Access& access) {
    if (file.split.active) return split_is_active();
    Status status;
    if (const Err e = perform(file, access, status); e != Err::success) return e;
    file.split = {true, access.writes, access.where, status};
    return Err::success;
}

Err end_split(File& file, bool writes, Where where, Status* status) {
    const Split& split = file.split;
    if (!split.active || split.writes != writes || split.where != where)
        return fail(Err::io, "call the _end function that matches the _begin",
                    "no split collective of this kind is in flight");
    if (status != nullptr) *status = split.status;
    file.split.active = false;
    return Err::success;
}

} // namespace

Err file_read_at(File& file, int64_t offset, void* buffer, int64_t count, Datatype& type, Status* status) {
    return access_blocking(file, {false, Where::at_offset, false, offset, buffer, count, &type}, status);
}

Err file_iread_at(File& file, int64_t offset, void* buffer, int64_t count, Datatype& type,
                  Request*& request) {
    return access_nonblocking(file, {false, Where::at_offset, false, offset, buffer, count, &type}, request);
}

Err file_read_at_all(File& file, int64_t offset, void* buffer, int64_t count, Datatype& type,
                     Status* status) {
    return access_blocking(file, {false, Where::at_offset, true, offset, buffer, count, &type}, status);
}

Err file_iread_at_all(File& file, int64_t offset, void* buffer, int64_t count, Datatype& type,
                      Request*& request) {
    return access_nonblocking(file, {false, Where::at_offset, false, offset, buffer, count, &type}, request);
}

Err file_read_at_all_begin(File& file, int64_t offset, void* buffer, int64_t count, Datatype& type) {
    return begin_split(file, {false, Where::at_offset, true, offset, buffer, count, &type});
}

Err file_read_at_all_end(File& file, void*, Status* status) {
    return end_split(file, false, Where::at_offset, status);
}

Err file_read(File& file, void* buffer, int64_t count, Datatype& type, Status* status) {
    return access_blocking(file, {false, Where::individual_pointer, false, 0, buffer, count, &type}, status);
}

Err file_iread(File& file, void* buffer, int64_t count, Datatype& type, Request*& request) {
    return access_nonblocking(file, {false, Where::individual_pointer, false, 0, buffer, count, &type},
                              request);
}

Err file_read_all(File& file, void* buffer, int64_t count, Datatype& type, Status* status) {
    return access_blocking(file, {false, Where::individual_pointer, true, 0, buffer, count, &type}, status);
}

Err file_iread_all(File& file, void* buffer, int64_t count, Datatype& type, Request*& request) {
    return access_nonblocking(file, {false, Where::individual_pointer, false, 0, buffer, count, &type},
                              request);
}

Err file_read_all_begin(File& file, void* buffer, int64_t count, Datatype& type) {
    return begin_split(file, {false, Where::individual_pointer, true, 0, buffer, count, &type});
}

Err file_read_all_end(File& file, void*, Status* status) {
    return end_split(file, false, Where::individual_pointer, status);
}

Err file_read_shared(File& file, void* buffer, int64_t count, Datatype& type, Status* status) {
    return access_blocking(file, {false, Where::shared_pointer, false, 0, buffer, count, &type}, status);
}

Err file_iread_shared(File& file, void* buffer, int64_t count, Datatype& type, Request*& request) {
    return access_nonblocking(file, {false, Where::shared_pointer, false, 0, buffer, count, &type}, request);
}

Err file_read_ordered(File& file, void* buffer, int64_t count, Datatype& type, Status* status) {
    return access_blocking(file, {false, Where::ordered, true, 0, buffer, count, &type}, status);
}

Err file_read_ordered_begin(File& file, void* buffer, int64_t count, Datatype& type) {
    return begin_split(file, {false, Where::ordered, true, 0, buffer, count, &type});
}

Err file_read_ordered_end(File& file, void*, Status* status) {
    return end_split(file, false, Where::ordered, status);
}

Err file_write_at(File& file, int64_t offset, const void* buffer, int64_t count, Datatype& type,
                  Status* status) {
    return access_blocking(
        file, {true, Where::at_offset, false, offset, const_cast<void*>(buffer), count, &type}, status);
}

Err file_iwrite_at(File& file, int64_t offset, const void* buffer, int64_t count, Datatype& type,
                   Request*& request) {
    return access_nonblocking(
        file, {true, Where::at_offset, false, offset, const_cast<void*>(buffer), count, &type}, request);
}

Err file_write_at_all(File& file, int64_t offset, const void* buffer, int64_t count, Datatype& type,
                      Status* status) {
    return access_blocking(
        file, {true, Where::at_offset, true, offset, const_cast<void*>(buffer), count, &type}, status);
}

Err file_iwrite_at_all(File& file, int64_t offset, const void* buffer, int64_t count, Datatype& type,
                       Request*& request) {
    return access_nonblocking(
        file, {true, Where::at_offset, false, offset, const_cast<void*>(buffer), count, &type}, request);
}

Err file_write_at_all_begin(File& file, int64_t offset, const void* buffer, int64_t count, Datatype& type) {
    return begin_split(file, {true, Where::at_offset, true, offset, const_cast<void*>(buffer), count, &type});
}

Err file_write_at_all_end(File& file, const void*, Status* status) {
    return end_split(file, true, Where::at_offset, status);
}

Err file_write(File& file, const void* buffer, int64_t count, Datatype& type, Status* status) {
    return access_blocking(
        file, {true, Where::individual_pointer, false, 0, const_cast<void*>(buffer), count, &type}, status);
}

Err file_iwrite(File& file, const void* buffer, int64_t count, Datatype& type, Request*& request) {
    return access_nonblocking(
        file, {true, Where::individual_pointer, false, 0, const_cast<void*>(buffer), count, &type}, request);
}

Err file_write_all(File& file, const void* buffer, int64_t count, Datatype& type, Status* status) {
    return access_blocking(
        file, {true, Where::individual_pointer, true, 0, const_cast<void*>(buffer), count, &type}, status);
}

Err file_iwrite_all(File& file, const void* buffer, int64_t count, Datatype& type, Request*& request) {
    return access_nonblocking(
        file, {true, Where::individual_pointer, false, 0, const_cast<void*>(buffer), count, &type}, request);
}

Err file_write_all_begin(File& file, const void* buffer, int64_t count, Datatype& type) {
    return begin_split(file,
                       {true, Where::individual_pointer, true, 0, const_cast<void*>(buffer), count, &type});
}

Err file_write_all_end(File& file, const void*, Status* status) {
    return end_split(file, true, Where::individual_pointer, status);
}

Err file_write_shared(File& file, const void* buffer, int64_t count, Datatype& type, Status* status) {
    return access_blocking(
        file, {true, Where::shared_pointer, false, 0, const_cast<void*>(buffer), count, &type}, status);
}

Err file_iwrite_shared(File& file, const void* buffer, int64_t count, Datatype& type, Request*& request) {
    return access_nonblocking(
        file, {true, Where::shared_pointer, false, 0, const_cast<void*>(buffer), count, &type}, request);
}

Err file_write_ordered(File& file, const void* buffer, int64_t count, Datatype& type, Status* status) {
    return access_blocking(file, {true, Where::ordered, true, 0, const_cast<void*>(buffer), count, &type},
                           status);
}

Err file_write_ordered_begin(File& file, const void* buffer, int64_t count, Datatype& type) {
    return begin_split(file, {true, Where::ordered, true, 0, const_cast<void*>(buffer), count, &type});
}

Err file_write_ordered_end(File& file, const void*, Status* status) {
    return end_split(file, true, Where::ordered, status);
}

} // namespace zipmpi::core
