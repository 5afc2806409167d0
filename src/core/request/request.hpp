// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A request: one operation, or, with a CompoundRequest, several that complete together.
#pragma once

#include "core/api/common.hpp"
#include "core/device/host_copy.hpp"
#include "core/object.hpp"
#include "proto/p2p/operation.hpp"

#include <memory>

namespace zipmpi::core {

// State of a request with several operations. The request's own operation then describes the whole and is
// never started.
struct CompoundRequest {
    virtual ~CompoundRequest() = default;
    // Starts a persistent request.
    virtual void start() {}
    // An incomplete suboperation, for reports.
    [[nodiscard]] virtual const proto::Operation* pending_operation() const = 0;
    // Called when an inactive request is freed. Returns true if a peer still depends on an operation in
    // flight; the request is then destroyed when that completes.
    [[nodiscard]] virtual bool defer_destroy() { return false; }
    // Generalized requests: query status, free, cancel.
    virtual void query(Status&) {}
    virtual Err on_free() { return Err::success; }
    virtual Err cancel(bool) { return Err::success; }
    // Of device buffers; null: there are none. Loaded at start, stored at completion.
    std::unique_ptr<device::HostCopies> copies;
};

struct Request : Object, proto::Operation {
    static constexpr ObjectKind class_id = ObjectKind::request;
    enum class Role : uint8_t {
        single,
        buffered,
        exchange,
        partitioned_send,
        partitioned_recv,
        collective,
        composed,
        generalized
    };
    using enum Role;

    Request(Comm* owner, Datatype* data)
        : comm(owner)
        , type(data) {}

    Comm* comm;     // reference-counted; null: none
    Datatype* type; // reference-counted: the application may free it before completion; null: not needed
    Role role = single;
    bool is_proc_null = false; // peer is MPI_PROC_NULL
    bool persistent = false;   // created by an _init function: completion makes it inactive
    bool active = true;        // persistent: between start and completion call
    bool shared = false;       // the single request shared by all sends that completed at once
    bool plain = false;        // made by core/p2p/plain.hpp: a contiguous receive, or the shared request
    std::unique_ptr<CompoundRequest> compound;
};

// An operation that belongs to a request.
struct SubOperation : proto::Operation {
    Request* parent = nullptr;
};

// Null if memory is exhausted. The first two leave the operation to be set; a request without a datatype is
// for predefined ones, which the application cannot free.
Request* make_plain_request(Comm& comm); // for plain::irecv()
Request* make_request(Comm* comm, Datatype& type);
Request* make_request(const proto::Operation& op, Comm* comm, Datatype& type);
// The shared request of sends that complete at once; allocated on first use. Null if that fails.
Request* completed_send_request();
void destroy(Request& request);
// Marks a request complete when its suboperations are. May destroy it.
void complete_request(Request& request);

// Scans all requests of the process.
bool has_active_request(const Comm& comm);

// The status of a completed operation.
Status status_of(const proto::Operation& op);
void set_status(Status& status, const Request& request);
// Copies the results of a completed request with device buffers to the device.
Err store_copies(const Request& request);
inline Status empty_status() { return {}; }
inline Status proc_null_status() {
    Status s;
    s.source = proc_null;
    return s;
}

inline bool is_inactive(const Request* request) { return request == nullptr || !request->active; }

} // namespace zipmpi::core
