// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/api.hpp"
#include "core/object.hpp"
#include "proto/p2p/operation.hpp"

namespace zipmpi::core {

struct Request : Object, proto::Operation {
    static constexpr Class class_id = Class::request;
    Comm* comm = nullptr;     // counted
    Datatype* type = nullptr; // of a receive: for the count in the status
    bool to_nobody = false;   // peer MPI_PROC_NULL
};

Request* make_request(const proto::Operation& op, Comm& comm, Datatype& type);
void destroy(Request& request);

// The status of a completed operation.
Status status_of(const proto::Operation& op, const Datatype& type);
inline Status empty_status() { return {}; }
inline Status status_to_nobody() {
    Status s;
    s.source = proc_null;
    return s;
}

} // namespace zipmpi::core
