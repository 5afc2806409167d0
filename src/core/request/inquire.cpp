// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Requests without completing them: a look at their state, cancelling, freeing.
#include "core/request/request.hpp"
#include "core/state.hpp"
#include "proto/p2p/lane.hpp"
#include "proto/progress/wait.hpp"

namespace zipmpi::core {
namespace {

bool done_or_inactive(const Request* request) { return inactive(request) || request->done(); }

Status look(const Request* request) {
    Status s = empty_status();
    if (!inactive(request)) set_status(s, *request);
    return s;
}

void write(Status* statuses, int64_t i, const Status& status) {
    if (statuses != nullptr) statuses[i] = status;
}

int64_t first_not_done(int64_t n, Request* const* requests) {
    for (int64_t i = 0; i < n; ++i)
        if (!done_or_inactive(requests[i])) return i;
    return -1;
}

int64_t first_done(int64_t n, Request* const* requests) {
    for (int64_t i = 0; i < n; ++i)
        if (!inactive(requests[i]) && requests[i]->done()) return i;
    return -1;
}

bool none_active(int64_t n, Request* const* requests) {
    for (int64_t i = 0; i < n; ++i)
        if (!inactive(requests[i])) return false;
    return true;
}

void go_away(proto::Operation& op) {
    auto& request = static_cast<Request&>(op);
    if (request.kind == proto::Operation::Kind::send) --engine()->loose_sends;
    if (request.compound != nullptr)
        static_cast<void>(request.compound->freed()); // nobody is there to be told
    destroy(request);
}

} // namespace

Err request_get_status(Request* request, bool& flag, Status* status) {
    if (!done_or_inactive(request)) proto::poll(lane());
    flag = done_or_inactive(request);
    if (flag) write(status, 0, look(request));
    return Err::success;
}

Err request_get_status_all(int64_t n, Request** requests, bool& flag, Status* statuses) {
    if (first_not_done(n, requests) >= 0) proto::poll(lane());
    flag = first_not_done(n, requests) < 0;
    for (int64_t i = 0; flag && i < n; ++i) write(statuses, i, look(requests[i]));
    return Err::success;
}

Err request_get_status_any(int64_t n, Request** requests, int& index, bool& flag, Status* status) {
    index = undefined;
    flag = none_active(n, requests);
    if (flag) {
        write(status, 0, empty_status());
        return Err::success;
    }
    if (first_done(n, requests) < 0) proto::poll(lane());
    const int64_t done = first_done(n, requests);
    flag = done >= 0;
    if (!flag) return Err::success;
    index = static_cast<int>(done);
    write(status, 0, look(requests[done]));
    return Err::success;
}

Err request_get_status_some(int64_t n, Request** requests, int& outcount, int* indices, Status* statuses) {
    outcount = undefined;
    if (none_active(n, requests)) return Err::success;
    proto::poll(lane());
    outcount = 0;
    for (int64_t i = 0; i < n; ++i) {
        if (inactive(requests[i]) || !requests[i]->done()) continue;
        write(statuses, outcount, look(requests[i]));
        indices[outcount++] = static_cast<int>(i);
    }
    return Err::success;
}

Err cancel(Request& request) {
    if (!request.active)
        return fail(Err::request, "cancel a persistent request between its start and its completion only",
                    "the request is not active");
    if (request.role == Request::generalized) return request.compound->cancel(request.done());
    if (request.role == Request::single) lane().cancel(request); // the other roles end by themselves
    return Err::success;
}

Err request_free(Request*& request) {
    Request& r = *request;
    request = nullptr;
    const bool under_way = !done_or_inactive(&r);
    if (under_way) { // it goes on by itself and goes away when it is done
        if (r.kind == proto::Operation::Kind::send) ++engine()->loose_sends;
        r.on_done = go_away;
    } else if (r.compound == nullptr || !r.compound->destroys_later()) {
        const Err e = r.compound != nullptr ? r.compound->freed() : Err::success;
        destroy(r);
        return e;
    }
    return Err::success;
}

} // namespace zipmpi::core
