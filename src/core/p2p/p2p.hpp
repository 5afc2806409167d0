// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Helpers shared by the point-to-point calls: conversion of count and datatype to bytes, and start of
// requests.
#pragma once

#include "core/comm/comm.hpp"
#include "core/datatype/contiguous.hpp"
#include "core/request/request.hpp"
#include "core/runtime_state.hpp"
#include "proto/p2p/progress_engine.hpp"

namespace zipmpi::core {

// Sets the packed size and layout of an operation on elements of a datatype.
inline void set_layout(proto::MessageArgs& op, int64_t count, const Datatype& type) {
    if (type.layout == nullptr) return;
    if (type.layout->contiguous(count)) {
        op.buffer = type.layout->start(op.buffer);
    } else {
        op.layout = type.layout;
        op.elements = count;
    }
}
inline void set_send_args(proto::MessageArgs& message, const void* buf, int64_t count, const Datatype& type,
                          int dest, int tag, const Comm& comm) {
    proto::set_send_args(message, comm.team, buf, packed_bytes(count, type), dest, tag);
    set_layout(message, count, type);
}
inline proto::Operation make_send_op(const void* buf, int64_t count, const Datatype& type, int dest, int tag,
                                     const Comm& comm) {
    proto::Operation op;
    op.kind = proto::Operation::Kind::send;
    set_send_args(op, buf, count, type, dest, tag, comm);
    return op;
}
inline void set_recv_op(proto::Operation& op, void* buf, int64_t count, const Datatype& type, int source,
                        int tag, const Comm& comm) {
    proto::set_recv(op, comm.team, buf, packed_bytes(count, type), source, tag);
    set_layout(op, count, type);
}
inline proto::Operation make_recv_op(void* buf, int64_t count, const Datatype& type, int source, int tag,
                                     const Comm& comm) {
    proto::Operation op;
    set_recv_op(op, buf, count, type, source, tag, comm);
    return op;
}

// As in Operation::world_peer.
inline int world_source(const Comm& comm, int source) {
    return source == any_source ? -1 : comm.team.map.world(source);
}

// True for an unmatched MPI_ANY_SOURCE receive on a communicator with an unacknowledged failed member.
bool is_blocked_by_failure(const proto::Operation& op);

inline void start_operation(proto::Operation& op) {
    op.kind == proto::Operation::Kind::send ? progress_engine().start_send(op)
                                            : progress_engine().start_recv(op);
}

[[gnu::cold]] Err request_alloc_error();
[[gnu::cold]] Err copy_alloc_error(); // for the temporary copy of MPI_Sendrecv_replace
Err start_request(const proto::Operation& op, Comm& comm, Datatype& type, Request*& request);
// Creates a completed request for peer MPI_PROC_NULL.
Err make_proc_null_request(Comm& comm, Datatype& type, Request*& request);

// Copies the message into the attached buffer and sends it from there (buffered.cpp).
Err send_buffered(const proto::Operation& op, Comm& comm);

Status status_of_unexpected(const proto::IncomingMessage& message);

} // namespace zipmpi::core
