// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the forms of point-to-point calls share: from count and datatype to bytes, and how a request starts.
#pragma once

#include "core/comm/comm.hpp"
#include "core/datatype/contiguous.hpp"
#include "core/request/request.hpp"
#include "core/state.hpp"
#include "proto/p2p/lane.hpp"

namespace zipmpi::core {

// Operations on elements of a datatype: their bytes, packed.
inline void set_layout(proto::Operation& op, int64_t count, const Datatype& type) {
    if (type.program == nullptr) return;
    if (type.program->contiguous(count)) {
        op.buffer = type.program->start(op.buffer);
    } else {
        op.layout = type.program;
        op.elements = count;
    }
}
inline proto::Operation send_of(const void* buf, int64_t count, const Datatype& type, int dest, int tag,
                                const Comm& comm) {
    proto::Operation op = proto::make_send(comm.team, buf, packed_bytes(count, type), dest, tag);
    set_layout(op, count, type);
    return op;
}
inline void set_recv_of(proto::Operation& op, void* buf, int64_t count, const Datatype& type, int source,
                        int tag, const Comm& comm) {
    proto::set_recv(op, comm.team, buf, packed_bytes(count, type), source, tag);
    set_layout(op, count, type);
}
inline proto::Operation recv_of(void* buf, int64_t count, const Datatype& type, int source, int tag,
                                const Comm& comm) {
    proto::Operation op;
    set_recv_of(op, buf, count, type, source, tag, comm);
    return op;
}

// As in Operation::world_peer.
inline int world_source(const Comm& comm, int source) {
    return source == any_source ? -1 : comm.team.map.world(source);
}

// A receive from anybody that has not been matched, while somebody is known to have failed.
bool waits_in_vain(const proto::Operation& op);

inline void start_operation(proto::Operation& op) {
    op.kind == proto::Operation::Kind::send ? lane().start_send(op) : lane().start_recv(op);
}

[[gnu::cold]] Err no_request();
[[gnu::cold]] Err no_copy(); // of what a replacing call sends
Err start_request(const proto::Operation& op, Comm& comm, Datatype& type, Request*& request);
// A request with peer MPI_PROC_NULL: done from the start.
Err request_to_nobody(Comm& comm, Datatype& type, Request*& request);

// Copies the message into the attached buffer and sends it from there (p2p_buffered.cpp).
Err send_buffered(const proto::Operation& op, Comm& comm);

Status status_of_waiting(const proto::Incoming& message);

} // namespace zipmpi::core
