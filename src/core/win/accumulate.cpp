// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Accumulate operations, with and without fetch, and the two single-element atomics.
#include "core/win/access.hpp"
#include "core/win/accumulate_op.hpp"

namespace zipmpi::core {
namespace {

using proto::rma::AccumulateOp;
using proto::rma::TypedBuffer;

struct OriginArgs {
    const void* buffer = nullptr;
    int64_t count = 0;
    Datatype* type = nullptr; // null: none
};

Err accumulate_slow(const OriginArgs& origin, const OriginArgs& result, const TargetSpec& spec, Op& op,
                    Win& win, Request** request) {
    RmaCall rma_call(win, request);
    AccumulateOp c;
    const Op& done =
        spec.count > 0 ? op : builtin_op(OpId::NO_OP); // a count of 0 is valid with any operation
    if (const Err e = make_accumulate_op(done, spec.type, c); e != Err::success) return e;
    if (spec.rank == proc_null) return rma_call.finish(Err::success);
    TypedBuffer there;
    if (const Err e = resolve_target(win, spec, there); e != Err::success) return e;
    TypedBuffer here;
    if (c.writes()) {
        here = typed_buffer_of(origin.buffer, origin.count, *origin.type);
        if (here.bytes != there.bytes) return size_mismatch(here.bytes, there.bytes);
    }
    TypedBuffer fetched;
    if (result.type != nullptr) {
        fetched = typed_buffer_of(result.buffer, result.count, *result.type);
        if (fetched.bytes != there.bytes) return size_mismatch(fetched.bytes, there.bytes);
        if (fetched.layout != nullptr) rma_call.keep_alive(*result.type);
    }
    return rma_call.finish(win.window->accumulate(spec.rank, c, here, fetched, there, rma_call));
}

// Contiguous elements of one predefined type in mapped memory; without the progress engine lock. Returns
// false without side effects if not applicable.
bool accumulate_fast(const OriginArgs& origin, const OriginArgs& result, const TargetSpec& spec, const Op& op,
                     Win& win) {
    const OriginArgs& side = result.type != nullptr ? result : origin;
    uint64_t bytes = 0;
    std::byte* const at =
        fast_address(win, spec.rank, spec.disp, side.count, *side.type, spec.count, spec.type, bytes);
    if (at == nullptr) return false;
    if (bytes == 0 && spec.count == 0) return true;
    AccumulateOp c;
    if (!make_simple_accumulate_op(op, spec.type, c)) return false;
    if (c.writes() && (origin.type != &spec.type || origin.count != spec.count)) return false;
    return win.window->try_accumulate_contiguous(spec.rank, c, static_cast<const std::byte*>(origin.buffer),
                                                 static_cast<std::byte*>(const_cast<void*>(result.buffer)),
                                                 at, bytes);
}

// Fast path, or with the lock.
Err accumulate_blocking(const OriginArgs& origin, const OriginArgs& result, const TargetSpec& spec, Op& op,
                        Win& win) {
    if (accumulate_fast(origin, result, spec, op, win)) return Err::success;
    const RuntimeLockGuard locked;
    return accumulate_slow(origin, result, spec, op, win, nullptr);
}

} // namespace

Err accumulate(const void* origin, int64_t count, Datatype& type, int target, int64_t disp,
               int64_t target_count, Datatype& target_type, Op& op, Win& win) {
    return accumulate_blocking({origin, count, &type}, {}, {target, disp, target_count, target_type}, op,
                               win);
}

Err raccumulate(const void* origin, int64_t count, Datatype& type, int target, int64_t disp,
                int64_t target_count, Datatype& target_type, Op& op, Win& win, Request*& request) {
    return accumulate_slow({origin, count, &type}, {}, {target, disp, target_count, target_type}, op, win,
                           &request);
}

Err get_accumulate(const void* origin, int64_t count, Datatype* type, void* result, int64_t result_count,
                   Datatype& result_type, int target, int64_t disp, int64_t target_count,
                   Datatype& target_type, Op& op, Win& win) {
    return accumulate_blocking({origin, count, type}, {result, result_count, &result_type},
                               {target, disp, target_count, target_type}, op, win);
}

Err rget_accumulate(const void* origin, int64_t count, Datatype* type, void* result, int64_t result_count,
                    Datatype& result_type, int target, int64_t disp, int64_t target_count,
                    Datatype& target_type, Op& op, Win& win, Request*& request) {
    return accumulate_slow({origin, count, type}, {result, result_count, &result_type},
                           {target, disp, target_count, target_type}, op, win, &request);
}

Err fetch_and_op(const void* origin, void* result, Datatype& type, int target, int64_t disp, Op& op,
                 Win& win) {
    if (!is_named(type)) return fail(Err::type, "pass a predefined datatype", "the datatype is derived");
    return accumulate_blocking({origin, 1, &type}, {result, 1, &type}, {target, disp, 1, type}, op, win);
}

Err compare_and_swap(const void* origin, const void* compare, void* result, Datatype& type, int target,
                     int64_t disp, Win& win) {
    proto::rma::CompareSwapOp s;
    if (const Err e = make_compare_swap_op(type, s); e != Err::success) return e;
    if (target == proc_null) return Err::success;
    const RuntimeLockGuard locked;
    TypedBuffer there;
    if (const Err e = resolve_target(win, {target, disp, 1, type}, there); e != Err::success) return e;
    RmaCall rma_call(win, nullptr);
    return win.window->compare_and_swap(target, s, compare, origin, result, there.base, rma_call);
}

} // namespace zipmpi::core
