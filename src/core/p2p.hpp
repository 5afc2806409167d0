// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the forms of point-to-point calls share: from count and datatype to bytes, and how a request starts.
#pragma once

#include "core/comm/comm.hpp"
#include "core/datatype/datatype.hpp"
#include "core/request/request.hpp"
#include "core/state.hpp"

namespace zipmpi::core {

inline uint64_t bytes_of(int64_t count, const Datatype& type) {
    return static_cast<uint64_t>(count * type.extent);
}

inline void start_operation(proto::Operation& op) {
    op.kind == proto::Operation::Kind::send ? lane().start_send(op) : lane().start_recv(op);
}

[[gnu::cold]] Err no_request();
Err start_request(const proto::Operation& op, Comm& comm, Datatype& type, Request*& request);
// A request with peer MPI_PROC_NULL: done from the start.
Err request_to_nobody(Comm& comm, Datatype& type, Request*& request);

// Copies the message into the attached buffer and sends it from there (p2p_buffered.cpp).
Err send_buffered(const proto::Operation& op, Comm& comm);

Status status_of_waiting(const proto::Incoming& message);

} // namespace zipmpi::core
