// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Request calls other than completion: status queries, cancel, free.
#include "core/api/p2p.hpp"
#include "core/request/request.hpp"
#include "core/runtime_state.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "proto/progress/wait.hpp"

namespace zipmpi::core {
namespace {

bool done_or_inactive(const Request* request) { return is_inactive(request) || request->done(); }

Status peek_status(const Request* request) {
    Status s = empty_status();
    if (!is_inactive(request)) set_status(s, *request);
    return s;
}

void write_status(Status* statuses, int64_t i, const Status& status) {
    if (statuses != nullptr) statuses[i] = status;
}

int64_t first_not_done(int64_t n, Request* const* requests) {
    for (int64_t i = 0; i < n; ++i)
        if (!done_or_inactive(requests[i])) return i;
    return -1;
}

int64_t first_done(int64_t n, Request* const* requests) {
    for (int64_t i = 0; i < n; ++i)
        if (!is_inactive(requests[i]) && requests[i]->done()) return i;
    return -1;
}

bool none_active(int64_t n, Request* const* requests) {
    for (int64_t i = 0; i < n; ++i)
        if (!is_inactive(requests[i])) return false;
    return true;
}

void destroy_on_done(proto::Operation& op) {
    auto& request = static_cast<Request&>(op);
    if (request.kind == proto::Operation::Kind::send) --runtime()->detached_sends;
    static_cast<void>(store_copies(request)); // there is no caller to report an error to
    if (request.compound != nullptr) static_cast<void>(request.compound->on_free());
    destroy(request);
}

} // namespace

Err request_get_status(Request* request, bool& flag, Status* status) {
    if (!done_or_inactive(request)) proto::poll(progress_engine());
    flag = done_or_inactive(request);
    if (flag) write_status(status, 0, peek_status(request));
    return Err::success;
}

Err request_get_status_all(int64_t n, Request** requests, bool& flag, Status* statuses) {
    if (first_not_done(n, requests) >= 0) proto::poll(progress_engine());
    flag = first_not_done(n, requests) < 0;
    for (int64_t i = 0; flag && i < n; ++i) write_status(statuses, i, peek_status(requests[i]));
    return Err::success;
}

Err request_get_status_any(int64_t n, Request** requests, int& index, bool& flag, Status* status) {
    index = undefined;
    flag = none_active(n, requests);
    if (flag) {
        write_status(status, 0, empty_status());
        return Err::success;
    }
    if (first_done(n, requests) < 0) proto::poll(progress_engine());
    const int64_t done = first_done(n, requests);
    flag = done >= 0;
    if (!flag) return Err::success;
    index = static_cast<int>(done);
    write_status(status, 0, peek_status(requests[done]));
    return Err::success;
}

Err request_get_status_some(int64_t n, Request** requests, int& outcount, int* indices, Status* statuses) {
    outcount = undefined;
    if (none_active(n, requests)) return Err::success;
    proto::poll(progress_engine());
    outcount = 0;
    for (int64_t i = 0; i < n; ++i) {
        if (is_inactive(requests[i]) || !requests[i]->done()) continue;
        write_status(statuses, outcount, peek_status(requests[i]));
        indices[outcount++] = static_cast<int>(i);
    }
    return Err::success;
}

Err cancel(Request& request) {
    if (!request.active)
        return fail(Err::request, "cancel a persistent request only between its start and its completion",
                    "the request is not active");
    if (request.role == Request::generalized) return request.compound->cancel(request.done());
    if (request.role == Request::single)
        progress_engine().cancel(request); // the other kinds cannot be canceled and
                                           // complete normally
    return Err::success;
}

Err request_free(Request*& request) {
    Request& r = *request;
    request = nullptr;
    const bool pending = !done_or_inactive(&r);
    if (pending) { // completes in the background and is then destroyed
        if (r.kind == proto::Operation::Kind::send) ++runtime()->detached_sends;
        r.on_done = destroy_on_done;
    } else if (r.compound == nullptr || !r.compound->defer_destroy()) {
        const Err e = r.compound != nullptr ? r.compound->on_free() : Err::success;
        destroy(r);
        return e;
    }
    return Err::success;
}

} // namespace zipmpi::core
