// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Completion of requests. A null request counts as inactive.
#include "core/request/request.hpp"

#include "core/api/p2p.hpp"
#include "core/comm/comm.hpp"
#include "core/datatype/datatype.hpp"
#include "core/errhandler/error_comm.hpp"
#include "core/p2p/p2p.hpp"
#include "core/p2p/plain.hpp"
#include "core/runtime_state.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "proto/progress/wait.hpp"

namespace zipmpi::core {
namespace {

constinit Slab<Request> slab;

// Waits for `done`; reports show the incomplete requests.
template <class Done>
void wait_on(int64_t n, Request** requests, const Done& done) {
    const proto::WaitInfo wait_info{[](const void* subject, uint32_t i) -> const proto::Operation* {
                                        const Request* r = static_cast<Request* const*>(subject)[i];
                                        if (is_inactive(r)) return nullptr;
                                        if (r->compound != nullptr) return r->compound->pending_operation();
                                        return r->kind != proto::Operation::Kind::none ? r : nullptr;
                                    },
                                    requests, static_cast<uint32_t>(n), 0};
    proto::wait_until(progress_engine(), done, wait_info);
}

// Complete, or blocked by a failed rank, which a completion call must report.
bool is_completable(const Request& r) {
    return r.done() || (r.role == Request::single && is_blocked_by_failure(r));
}

// The usual result: nothing but the request has to be freed.
bool has_only_to_be_freed(const Request& r) {
    return r.done() && r.compound == nullptr && !r.persistent && r.error == Err::success;
}

// Takes the result of a completable request; frees it, or makes it inactive for the next start. An incomplete
// one continues.
Err collect(Request*& request, Status* status) {
    Status ignored;
    Status& s = status != nullptr ? *status : ignored;
    if (!request->done()) [[unlikely]] {
        s = empty_status();
        s.error = progress_engine().faults().source_failure(request->context, any_source, -1);
        return s.error;
    }
    if (has_only_to_be_freed(*request)) [[likely]] {
        if (status != nullptr) set_status(s, *request);
        destroy(*request);
        request = nullptr;
        return Err::success;
    }
    if (status != nullptr || request->compound != nullptr)
        set_status(s, *request);
    else
        s.error = request->error;
    if (request->persistent) {
        request->active = false;
        return s.error;
    }
    const Err e = request->compound != nullptr ? request->compound->on_free() : Err::success;
    if (s.error == Err::success) s.error = e;
    const Err result = s.error;
    if (result != Err::success) [[unlikely]]
        retain_error_comm(request->comm);
    destroy(*request);
    request = nullptr;
    return result;
}

Err collect_all(int64_t n, Request** requests, Status* statuses) {
    Err result = Err::success;
    for (int64_t i = 0; i < n; ++i) {
        Status* status = statuses != nullptr ? &statuses[i] : nullptr;
        if (status == nullptr && requests[i] != nullptr && has_only_to_be_freed(*requests[i])) [[likely]] {
            destroy(*requests[i]);
            requests[i] = nullptr;
        } else if (is_inactive(requests[i])) {
            if (status != nullptr) *status = empty_status();
        } else if (collect(requests[i], status) != Err::success) {
            result = Err::in_status;
        }
    }
    return result;
}

bool all_done(int64_t n, Request* const* requests) {
    for (int64_t i = 0; i < n; ++i)
        if (!is_inactive(requests[i]) && !is_completable(*requests[i])) return false;
    return true;
}

bool none_active(int64_t n, Request* const* requests) {
    for (int64_t i = 0; i < n; ++i)
        if (!is_inactive(requests[i])) return false;
    return true;
}

struct Scan {
    int64_t done = -1;   // index of the first completable request; -1: none
    bool active = false; // whether a request is active
};

// Programs poll arrays of requests: one pass, and failures of ranks are looked up only after there were any.
Scan scan(int64_t n, Request* const* requests) {
    Scan found;
    const bool failures = progress_engine().faults().any();
    for (int64_t i = 0; i < n; ++i) {
        if (is_inactive(requests[i])) continue;
        found.active = true;
        if (!requests[i]->done() && (!failures || !is_completable(*requests[i]))) continue;
        found.done = i;
        return found;
    }
    return found;
}

int64_t first_done(int64_t n, Request* const* requests) { return scan(n, requests).done; }

Err collect_some(int64_t n, Request** requests, int& outcount, int* indices, Status* statuses) {
    Err result = Err::success;
    outcount = 0;
    for (int64_t i = 0; i < n; ++i) {
        if (is_inactive(requests[i]) || !is_completable(*requests[i])) continue;
        if (collect(requests[i], statuses != nullptr ? &statuses[outcount] : nullptr) != Err::success)
            result = Err::in_status;
        indices[outcount++] = static_cast<int>(i);
    }
    return result;
}

Err return_inactive(Status* status) {
    if (status != nullptr) *status = empty_status();
    return Err::success;
}

} // namespace

constinit std::atomic<Request*> plain::completed_send = nullptr;
constinit plain::SpareRequests plain::spare_requests;
constinit uint32_t plain::completion_calls = 0;

Request* make_plain_request(Comm& comm) {
    if (!plain::spare_requests.empty()) return plain::spare_requests.take_first(comm);
    Request* const r = slab.make(&comm, nullptr);
    if (r == nullptr) return nullptr;
    add_ref(comm);
    r->plain = true;
    return r;
}

Request* make_request(Comm* comm, Datatype& type) {
    Request* r = slab.make(comm, &type);
    if (r == nullptr) return nullptr;
    retain(type);
    if (comm != nullptr) add_ref(*comm);
    return r;
}

Request* make_request(const proto::Operation& op, Comm* comm, Datatype& type) {
    Request* r = make_request(comm, type);
    if (r != nullptr) static_cast<proto::Operation&>(*r) = op;
    return r;
}

Request* completed_send_request() {
    // Written with the progress engine's lock held.
    if (Request* const done = plain::completed_send.load(std::memory_order_relaxed); done != nullptr)
        return done;
    Request* const made = make_request(nullptr, builtin_type(TypeId::BYTE));
    if (made == nullptr) return nullptr;
    made->kind = proto::Operation::Kind::send;
    made->complete = made->shared = made->plain = true;
    plain::completed_send.store(made, std::memory_order_release);
    return made;
}

void destroy(Request& request) {
    if (request.shared) return;
    if (request.plain && request.on_done == nullptr) return plain::spare_requests.keep(request);
    Comm* comm = request.comm;
    Datatype* type = request.type;
    slab.destroy(request);
    if (type != nullptr) release(*type);
    if (comm != nullptr) release(*comm);
}

void complete_request(Request& request) {
    request.complete = true;
    if (request.on_done != nullptr) request.on_done(request);
}

bool has_active_request(const Comm& comm) {
    bool active = false;
    slab.for_each([&](const Request& r) { active = active || (r.comm == &comm && r.active && !r.done()); });
    return active;
}

const Comm* comm_of(const Request& request) noexcept { return request.comm; }

Request* request_by_index(uint32_t index) { return slab.find(index); }

Status status_of(const proto::Operation& op) {
    const bool receives = op.kind == proto::Operation::Kind::recv;
    return {receives ? op.matched_source : any_source, receives ? op.matched_tag : any_tag, op.error,
            op.cancelled, receives ? static_cast<int64_t>(op.received) : 0};
}

void set_status(Status& status, const Request& request) {
    if (request.is_proc_null) {
        status = proc_null_status();
        status.error = request.error;
        return;
    }
    status = status_of(request);
    if (request.compound == nullptr) return;
    request.compound->query(status);
    if (const Err e = store_copies(request); e != Err::success) status.error = e;
}

Err store_copies(const Request& request) {
    const CompoundRequest* const compound = request.compound.get();
    return compound != nullptr && compound->copies != nullptr ? compound->copies->store() : Err::success;
}

Err wait(Request*& request, Status* status) {
    if (is_inactive(request)) return return_inactive(status);
    wait_on(1, &request, [&] { return is_completable(*request); });
    return collect(request, status);
}

Err test(Request*& request, bool& flag, Status* status) {
    flag = true;
    if (is_inactive(request)) return return_inactive(status);
    if (!request->done()) proto::poll(progress_engine());
    flag = is_completable(*request);
    return flag ? collect(request, status) : Err::success;
}

Err waitall(int64_t n, Request** requests, Status* statuses) {
    int64_t done = 0; // length of the completed prefix, which is not checked again
    wait_on(n, requests, [&] {
        while (done < n && (is_inactive(requests[done]) || is_completable(*requests[done]))) ++done;
        return done == n;
    });
    return collect_all(n, requests, statuses);
}

Err testall(int64_t n, Request** requests, bool& flag, Status* statuses) {
    if (!all_done(n, requests)) proto::poll(progress_engine());
    flag = all_done(n, requests);
    return flag ? collect_all(n, requests, statuses) : Err::success;
}

Err waitany(int64_t n, Request** requests, int& index, Status* status) {
    index = undefined;
    if (none_active(n, requests)) return return_inactive(status);
    wait_on(n, requests, [&] { return first_done(n, requests) >= 0; });
    index = static_cast<int>(first_done(n, requests));
    return collect(requests[index], status);
}

Err testany(int64_t n, Request** requests, int& index, bool& flag, Status* status) {
    index = undefined;
    flag = true;
    Scan found = scan(n, requests);
    if (!found.active) return return_inactive(status);
    if (found.done < 0 && proto::poll(progress_engine())) found = scan(n, requests);
    flag = found.done >= 0;
    if (!flag) return Err::success;
    index = static_cast<int>(found.done);
    return collect(requests[index], status);
}

Err waitsome(int64_t n, Request** requests, int& outcount, int* indices, Status* statuses) {
    outcount = undefined;
    if (none_active(n, requests)) return Err::success;
    wait_on(n, requests, [&] { return first_done(n, requests) >= 0; });
    return collect_some(n, requests, outcount, indices, statuses);
}

Err testsome(int64_t n, Request** requests, int& outcount, int* indices, Status* statuses) {
    outcount = undefined;
    if (none_active(n, requests)) return Err::success;
    proto::poll(progress_engine());
    return collect_some(n, requests, outcount, indices, statuses);
}

} // namespace zipmpi::core
