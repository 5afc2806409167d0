// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Persistent requests: created once, started many times.
#include "core/api/p2p.hpp"
#include "core/p2p/p2p.hpp"

namespace zipmpi::core {
namespace {

Err make_persistent(const proto::Operation& op, Request::Role role, Comm& comm, Datatype& type,
                    Request*& request) {
    request = make_request(op, &comm, type);
    if (request == nullptr) return request_alloc_error();
    request->role = role;
    request->persistent = true;
    request->active = false;
    return Err::success;
}

Err make_persistent_proc_null(Comm& comm, Datatype& type, Request*& request) {
    const Err e = make_persistent({}, Request::single, comm, type, request);
    if (e == Err::success) request->is_proc_null = true;
    return e;
}

Err persistent_send(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm,
                    bool synchronous, Request::Role role, Request*& request) {
    if (dest == proc_null) return make_persistent_proc_null(comm, type, request);
    proto::Operation op = make_send_op(buf, count, type, dest, tag, comm);
    op.synchronous = synchronous;
    return make_persistent(op, role, comm, type, request);
}

Err check_startable(const Request* request) {
    constexpr const char* advice =
        "start only requests created by an _init function, and complete each start before the next";
    if (request == nullptr) return fail(Err::request, advice, "the request is MPI_REQUEST_NULL");
    if (!request->persistent) return fail(Err::request, advice, "the request is not persistent");
    if (request->active) return fail(Err::request, advice, "the request is already active");
    return Err::success;
}

// Partitions of a send are loaded when they are ready.
Err load_copies(Request& request) {
    const bool loads = request.compound->copies != nullptr && request.role != Request::partitioned_send;
    return loads ? request.compound->copies->load() : Err::success;
}

Err start_persistent(Request& request) {
    request.reset();
    if (request.compound != nullptr)
        if (const Err e = load_copies(request); e != Err::success) return e;
    if (request.is_proc_null) {
        request.complete = true;
    } else if (request.role == Request::buffered) {
        if (const Err e = send_buffered(request, *request.comm); e != Err::success) return e;
        request.complete = true;
    }
    request.active = true;
    if (request.complete) return Err::success;
    if (request.compound != nullptr)
        request.compound->start();
    else
        start_operation(request);
    return Err::success;
}

} // namespace

Err send_init(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm,
              Request*& request) {
    return persistent_send(buf, count, type, dest, tag, comm, false, Request::single, request);
}

Err ssend_init(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm,
               Request*& request) {
    return persistent_send(buf, count, type, dest, tag, comm, true, Request::single, request);
}

Err bsend_init(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm,
               Request*& request) {
    return persistent_send(buf, count, type, dest, tag, comm, false, Request::buffered, request);
}

Err recv_init(void* buf, int64_t count, Datatype& type, int source, int tag, Comm& comm, Request*& request) {
    if (source == proc_null) return make_persistent_proc_null(comm, type, request);
    return make_persistent(make_recv_op(buf, count, type, source, tag, comm), Request::single, comm, type,
                           request);
}

Err start(Request*& request) {
    const Err e = check_startable(request);
    return e == Err::success ? start_persistent(*request) : e;
}

Err startall(int64_t n, Request** requests) {
    for (int64_t i = 0; i < n; ++i)
        if (const Err e = check_startable(requests[i]); e != Err::success) return e;
    for (int64_t i = 0; i < n; ++i)
        if (const Err e = start_persistent(*requests[i]); e != Err::success) return e;
    return Err::success;
}

} // namespace zipmpi::core
