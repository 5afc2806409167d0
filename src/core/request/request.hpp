// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A request: one operation, or, with a Compound, several that complete together.
#pragma once

#include "core/api.hpp"
#include "core/object.hpp"
#include "proto/p2p/operation.hpp"

#include <memory>

namespace zipmpi::core {

// What a request has beyond one operation. The request's own operation then describes the whole and is never
// started.
struct Compound {
    virtual ~Compound() = default;
    // Begins another round of a persistent request.
    virtual void start() {}
    // A part that is not done yet, for reports.
    [[nodiscard]] virtual const proto::Operation* shown() const = 0;
    // The request is freed while it is not active. True: something that a peer still counts on is under way;
    // the request is destroyed when that has ended.
    [[nodiscard]] virtual bool destroys_later() { return false; }
    // Of generalized requests: the status of the done one; its end; the wish to cancel it.
    virtual void query(Status&) {}
    virtual Err freed() { return Err::success; }
    virtual Err cancel(bool) { return Err::success; }
};

struct Request : Object, proto::Operation {
    static constexpr Class class_id = Class::request;
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

    Request(Comm* owner, Datatype& data)
        : comm(owner)
        , type(&data) {}

    Comm* comm;     // counted; null if it belongs to none
    Datatype* type; // counted: the program may free it meanwhile
    Role role = single;
    bool to_nobody = false;  // peer MPI_PROC_NULL
    bool persistent = false; // made by an _init function: completion makes it inactive
    bool active = true;      // persistent: between start and completion call
    bool shared = false;     // the one request of all sends that were done when they were started
    std::unique_ptr<Compound> compound;
};

// An operation that is part of a request.
struct Part : proto::Operation {
    Request* whole = nullptr;
};

// Null if memory is exhausted. The first leaves the operation to be set.
Request* make_request(Comm* comm, Datatype& type);
Request* make_request(const proto::Operation& op, Comm* comm, Datatype& type);
// For a send that is done already: nothing has to be made and freed. Null if memory is exhausted.
Request* request_of_done_send();
void destroy(Request& request);
// Marks a request done whose parts are. It may be gone afterwards.
void complete_whole(Request& request);

// Looks at all requests of the process.
bool has_active_request(const Comm& comm);

// The status of a completed operation.
Status status_of(const proto::Operation& op);
void set_status(Status& status, const Request& request);
inline Status empty_status() { return {}; }
inline Status status_to_nobody() {
    Status s;
    s.source = proc_null;
    return s;
}

inline bool inactive(const Request* request) { return request == nullptr || !request->active; }

} // namespace zipmpi::core
