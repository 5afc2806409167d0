// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Put and get. The fast path for a few bytes into mapped memory: checks, an address, a store.
#include "core/win/access.hpp"

#include <new>

namespace zipmpi::core {
namespace {

using proto::rma::Direction;
using proto::rma::Target;
using proto::rma::TypedBuffer;

// Pending operation of a call, which destroys itself when it is done.
class RmaFetch final : public proto::rma::FetchOp {
  public:
    explicit RmaFetch(Win& win)
        : win_(win) {}
    Request* request = nullptr;
    TypeShare type;

  private:
    void on_done() override {
        if (request != nullptr) {
            request->error = error;
            complete_request(*request);
        } else if (error != Err::success) {
            win_.failure = error;
        }
        delete this;
    }

    Win& win_;
};

Err transfer(Direction direction, const void* origin, int64_t count, Datatype& type, const TargetSpec& spec,
             Win& win, Request** request) {
    RmaCall rma_call(win, request);
    if (spec.rank == proc_null) return rma_call.finish(Err::success);
    TypedBuffer there;
    if (const Err e = resolve_target(win, spec, there); e != Err::success) return e;
    const TypedBuffer here = typed_buffer_of(origin, count, type);
    if (here.bytes != there.bytes) return size_mismatch(here.bytes, there.bytes);
    const bool writes = direction == Direction::write;
    if (here.layout != nullptr && !writes) rma_call.keep_alive(type);
    proto::rma::Window& w = *win.window;
    return rma_call.finish(writes ? w.put(spec.rank, here, there, rma_call)
                                  : w.get(spec.rank, here, there, rma_call));
}

// Not inlined, with equal arguments: the fast path then saves no registers.
[[gnu::noinline]] Err put_slow(const void* origin, int64_t count, Datatype& type, int target, int64_t disp,
                               int64_t target_count, Datatype& target_type, Win& win) {
    const RuntimeLockGuard locked;
    return transfer(Direction::write, origin, count, type, {target, disp, target_count, target_type}, win,
                    nullptr);
}

[[gnu::noinline]] Err get_slow(void* origin, int64_t count, Datatype& type, int target, int64_t disp,
                               int64_t target_count, Datatype& target_type, Win& win) {
    const RuntimeLockGuard locked;
    return transfer(Direction::read, origin, count, type, {target, disp, target_count, target_type}, win,
                    nullptr);
}

} // namespace

Err not_in_epoch(int target) {
    return fail(Err::rma_sync, "call MPI_Win_fence, MPI_Win_start, MPI_Win_lock or MPI_Win_lock_all first",
                "the window is not open for access to rank %d", target);
}

Err not_in_range(const Target& t, const TargetSpec& spec) {
    return fail(Err::rma_range, "access only memory within the target's window",
                "%lld elements at displacement %lld with unit %lld exceed the %llu bytes of rank %d",
                static_cast<long long>(spec.count), static_cast<long long>(spec.disp),
                static_cast<long long>(t.disp_unit), static_cast<unsigned long long>(t.size), spec.rank);
}

Err size_mismatch(uint64_t here, uint64_t there) {
    return fail(Err::arg, "pass counts and datatypes that describe the same data on both sides",
                "there are %llu bytes at the origin and %llu at the target",
                static_cast<unsigned long long>(here), static_cast<unsigned long long>(there));
}

Err resolve_target(Win& win, const TargetSpec& spec, TypedBuffer& there) {
    const Target& t = win.window->target(spec.rank);
    if (!win.may_access(win.cache_of(spec.rank))) return not_in_epoch(spec.rank);
    int64_t offset = 0;
    const bool overflows = __builtin_mul_overflow(spec.disp, t.disp_unit, &offset);
    const bool dynamic = t.size == proto::rma::Region::dynamic_size;
    if (spec.disp < 0 && !dynamic)
        return fail(Err::disp, "pass a displacement of 0 or more", "target_disp is %lld",
                    static_cast<long long>(spec.disp));
    const MemoryExtent span = memory_extent_of(spec.count, spec.type);
    const int64_t low = offset + span.low;
    if (overflows) return not_in_range(t, spec);
    if (dynamic) {
        if (spec.rank == win.team().rank &&
            !win.window->attached().contains(static_cast<uint64_t>(low), static_cast<uint64_t>(span.bytes)))
            return fail(Err::rma_range, "attach memory before it is accessed",
                        "the memory is not attached to the window");
    } else if (span.bytes > 0 && (low < 0 || static_cast<uint64_t>(low) > t.size ||
                                  static_cast<uint64_t>(span.bytes) > t.size - static_cast<uint64_t>(low))) {
        const Err failed = win.window->failure_of(spec.rank); // its memory cannot be mapped
        return failed != Err::success ? failed : not_in_range(t, spec);
    }
    if (TargetCache& cache = win.cache_of(spec.rank);
        t.path() == proto::rma::AccessPath::shared && !dynamic && !cache.is_resolved() && t.disp_unit > 0)
        cache.resolve(t.base, t.size, t.disp_unit, t.cpu_atomics);
    there = typed_buffer_of(t.address_of(static_cast<uint64_t>(offset)), spec.count, spec.type);
    return Err::success;
}

proto::rma::FetchOp* RmaCall::make() {
    auto* const fetch = new (std::nothrow) RmaFetch(win_);
    if (fetch == nullptr) return nullptr;
    if (request_ != nullptr) {
        fetch->request = make_request(nullptr, builtin_type(TypeId::BYTE));
        if (fetch->request == nullptr) {
            delete fetch;
            return nullptr;
        }
        *request_ = fetch->request;
    }
    if (type_ != nullptr) fetch->type = share(*type_);
    has_fetch_ = true;
    return fetch;
}

Err RmaCall::finish(Err result) {
    if (result != Err::success || request_ == nullptr || has_fetch_) return result;
    *request_ = completed_send_request();
    return *request_ != nullptr ? Err::success : request_alloc_error();
}

Err put(const void* origin, int64_t count, Datatype& type, int target, int64_t disp, int64_t target_count,
        Datatype& target_type, Win& win) {
    uint64_t bytes = 0;
    std::byte* const to = fast_address(win, target, disp, count, type, target_count, target_type, bytes);
    if (to == nullptr) [[unlikely]]
        return put_slow(origin, count, type, target, disp, target_count, target_type, win);
    copy_bytes(to, static_cast<const std::byte*>(origin), bytes);
    return Err::success;
}

Err get(void* origin, int64_t count, Datatype& type, int target, int64_t disp, int64_t target_count,
        Datatype& target_type, Win& win) {
    uint64_t bytes = 0;
    const std::byte* const from =
        fast_address(win, target, disp, count, type, target_count, target_type, bytes);
    if (from == nullptr) [[unlikely]]
        return get_slow(origin, count, type, target, disp, target_count, target_type, win);
    copy_bytes(static_cast<std::byte*>(origin), from, bytes);
    return Err::success;
}

Err rput(const void* origin, int64_t count, Datatype& type, int target, int64_t disp, int64_t target_count,
         Datatype& target_type, Win& win, Request*& request) {
    return transfer(Direction::write, origin, count, type, {target, disp, target_count, target_type}, win,
                    &request);
}

Err rget(void* origin, int64_t count, Datatype& type, int target, int64_t disp, int64_t target_count,
         Datatype& target_type, Win& win, Request*& request) {
    return transfer(Direction::read, origin, count, type, {target, disp, target_count, target_type}, win,
                    &request);
}

} // namespace zipmpi::core
