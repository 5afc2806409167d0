// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Put and get. The path of a few bytes into memory that is seen here: checks, an address, a store.
#include "core/win/access.hpp"

#include <new>

namespace zipmpi::core {
namespace {

using proto::rma::Data;
using proto::rma::Target;

struct Sent : proto::rma::Exchange {
    Win* win = nullptr;
    Request* request = nullptr;
    TypeShare type;
};

Err move(bool out, const void* origin, int64_t count, Datatype& type, const TargetSide& place, Win& win,
         Request** request) {
    Sending sending(win, request);
    if (place.rank == proc_null) return sending.finish(Err::success);
    Data there;
    if (const Err e = find_place(win, place, there); e != Err::success) return e;
    const Data here = data_of(origin, count, type);
    if (here.bytes != there.bytes) return different_sizes(here.bytes, there.bytes);
    if (here.layout != nullptr && !out) sending.keep(type);
    proto::rma::Window& w = *win.window;
    return sending.finish(out ? w.put(place.rank, here, there, sending.maker())
                              : w.get(place.rank, here, there, sending.maker()));
}

// Apart, with the same arguments: the short way then saves no registers.
[[gnu::noinline]] Err put_slowly(const void* origin, int64_t count, Datatype& type, int target, int64_t disp,
                                 int64_t target_count, Datatype& target_type, Win& win) {
    const Locked locked;
    return move(true, origin, count, type, {target, disp, target_count, target_type}, win, nullptr);
}

[[gnu::noinline]] Err get_slowly(void* origin, int64_t count, Datatype& type, int target, int64_t disp,
                                 int64_t target_count, Datatype& target_type, Win& win) {
    const Locked locked;
    return move(false, origin, count, type, {target, disp, target_count, target_type}, win, nullptr);
}

} // namespace

Err not_in_epoch(int target) {
    return fail(Err::rma_sync, "call MPI_Win_fence, MPI_Win_start, MPI_Win_lock or MPI_Win_lock_all first",
                "the window is not open for access to rank %d", target);
}

Err not_in_range(const Target& t, const TargetSide& place) {
    return fail(Err::rma_range, "access only memory that the target has in the window",
                "%lld elements at displacement %lld with unit %lld are not within the %llu bytes of rank %d",
                static_cast<long long>(place.count), static_cast<long long>(place.disp),
                static_cast<long long>(t.unit), static_cast<unsigned long long>(t.size), place.rank);
}

Err different_sizes(uint64_t here, uint64_t there) {
    return fail(Err::arg, "pass counts and datatypes that describe the same data on both sides",
                "there are %llu bytes at the origin and %llu at the target",
                static_cast<unsigned long long>(here), static_cast<unsigned long long>(there));
}

Err find_place(Win& win, const TargetSide& place, Data& there) {
    const Target& t = win.window->target(place.rank);
    if (!win.may_access(win.near_of(place.rank))) return not_in_epoch(place.rank);
    int64_t offset = 0;
    const bool overflows = __builtin_mul_overflow(place.disp, t.unit, &offset);
    const bool dynamic = t.size == proto::rma::Window::everywhere;
    if (place.disp < 0 && !dynamic)
        return fail(Err::disp, "pass a displacement of 0 or more", "target_disp is %lld",
                    static_cast<long long>(place.disp));
    const Span span = span_of(place.count, place.type);
    const int64_t low = offset + span.low;
    if (overflows) return not_in_range(t, place);
    if (dynamic) {
        if (place.rank == win.team().rank &&
            !win.window->is_attached(static_cast<uint64_t>(low), static_cast<uint64_t>(span.bytes)))
            return fail(Err::rma_range, "attach memory before it is accessed",
                        "the memory is not attached to the window");
    } else if (span.bytes > 0 && (low < 0 || static_cast<uint64_t>(low) > t.size ||
                                  static_cast<uint64_t>(span.bytes) > t.size - static_cast<uint64_t>(low))) {
        return not_in_range(t, place);
    }
    if (Near& near = win.near_of(place.rank);
        t.reach() == proto::rma::Reach::direct && !dynamic && !near.known() && t.unit > 0)
        near.fill(t.base, t.size, t.unit, t.shared);
    there = data_of(proto::rma::Window::place_in(t, static_cast<uint64_t>(offset)), place.count, place.type);
    return Err::success;
}

proto::rma::Exchange* Sending::make() {
    auto* const sent = new (std::nothrow) Sent;
    if (sent == nullptr) return nullptr;
    sent->win = &win_;
    if (request_ != nullptr) {
        sent->request = make_request(nullptr, builtin_type(TypeId::BYTE));
        if (sent->request == nullptr) {
            delete sent;
            return nullptr;
        }
        *request_ = sent->request;
    }
    if (type_ != nullptr) sent->type = share(*type_);
    sent->done = [](proto::rma::Exchange& exchange) {
        auto& s = static_cast<Sent&>(exchange);
        if (s.request != nullptr) {
            s.request->error = s.error;
            complete_whole(*s.request);
        } else if (s.error != Err::success) {
            s.win->failure = s.error;
        }
        delete &s;
    };
    sent_ = true;
    return sent;
}

Err Sending::finish(Err result) {
    if (result != Err::success || request_ == nullptr || sent_) return result;
    *request_ = request_of_done_send();
    return *request_ != nullptr ? Err::success : no_request();
}

Err put(const void* origin, int64_t count, Datatype& type, int target, int64_t disp, int64_t target_count,
        Datatype& target_type, Win& win) {
    uint64_t bytes = 0;
    std::byte* const to = quick_place(win, target, disp, count, type, target_count, target_type, bytes);
    if (to == nullptr) [[unlikely]]
        return put_slowly(origin, count, type, target, disp, target_count, target_type, win);
    copy_bytes(to, static_cast<const std::byte*>(origin), bytes);
    return Err::success;
}

Err get(void* origin, int64_t count, Datatype& type, int target, int64_t disp, int64_t target_count,
        Datatype& target_type, Win& win) {
    uint64_t bytes = 0;
    const std::byte* const from =
        quick_place(win, target, disp, count, type, target_count, target_type, bytes);
    if (from == nullptr) [[unlikely]]
        return get_slowly(origin, count, type, target, disp, target_count, target_type, win);
    copy_bytes(static_cast<std::byte*>(origin), from, bytes);
    return Err::success;
}

Err rput(const void* origin, int64_t count, Datatype& type, int target, int64_t disp, int64_t target_count,
         Datatype& target_type, Win& win, Request*& request) {
    return move(true, origin, count, type, {target, disp, target_count, target_type}, win, &request);
}

Err rget(void* origin, int64_t count, Datatype& type, int target, int64_t disp, int64_t target_count,
         Datatype& target_type, Win& win, Request*& request) {
    return move(false, origin, count, type, {target, disp, target_count, target_type}, win, &request);
}

} // namespace zipmpi::core
