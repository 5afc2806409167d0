// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Accumulates, with and without a result, and the two atomic operations on single elements.
#include "core/win/access.hpp"
#include "core/win/combine.hpp"

namespace zipmpi::core {
namespace {

using proto::rma::Combine;
using proto::rma::Data;

struct Side {
    const void* buffer = nullptr;
    int64_t count = 0;
    Datatype* type = nullptr; // null: there is none
};

Err combine(const Side& origin, const Side& result, const TargetSide& place, Op& op, Win& win,
            Request** request) {
    Sending sending(win, request);
    Combine c;
    const Op& done = place.count > 0 ? op : builtin_op(OpId::NO_OP); // nothing suits any operation
    if (const Err e = combine_of(done, place.type, c); e != Err::success) return e;
    if (place.rank == proc_null) return sending.finish(Err::success);
    Data there;
    if (const Err e = find_place(win, place, there); e != Err::success) return e;
    Data here;
    if (c.writes()) {
        here = data_of(origin.buffer, origin.count, *origin.type);
        if (here.bytes != there.bytes) return different_sizes(here.bytes, there.bytes);
    }
    Data fetched;
    if (result.type != nullptr) {
        fetched = data_of(result.buffer, result.count, *result.type);
        if (fetched.bytes != there.bytes) return different_sizes(fetched.bytes, there.bytes);
        if (fetched.layout != nullptr) sending.keep(*result.type);
    }
    return sending.finish(win.window->accumulate(place.rank, c, here, fetched, there, sending.maker()));
}

// Elements of one predefined type that lie side by side in memory that is seen here; without the engine's
// lock. False: nothing has been done.
bool combine_at_once(const Side& origin, const Side& result, const TargetSide& place, const Op& op,
                     Win& win) {
    const Side& side = result.type != nullptr ? result : origin;
    uint64_t bytes = 0;
    std::byte* const at =
        quick_place(win, place.rank, place.disp, side.count, *side.type, place.count, place.type, bytes);
    if (at == nullptr) return false;
    if (bytes == 0 && place.count == 0) return true;
    Combine c;
    if (!plain_combine_of(op, place.type, c)) return false;
    if (c.writes() && (origin.type != &place.type || origin.count != place.count)) return false;
    return win.window->accumulate_row(place.rank, c, static_cast<const std::byte*>(origin.buffer),
                                      static_cast<std::byte*>(const_cast<void*>(result.buffer)), at, bytes);
}

// At once, or under the lock.
Err combine_any(const Side& origin, const Side& result, const TargetSide& place, Op& op, Win& win) {
    if (combine_at_once(origin, result, place, op, win)) return Err::success;
    const Locked locked;
    return combine(origin, result, place, op, win, nullptr);
}

} // namespace

Err accumulate(const void* origin, int64_t count, Datatype& type, int target, int64_t disp,
               int64_t target_count, Datatype& target_type, Op& op, Win& win) {
    return combine_any({origin, count, &type}, {}, {target, disp, target_count, target_type}, op, win);
}

Err raccumulate(const void* origin, int64_t count, Datatype& type, int target, int64_t disp,
                int64_t target_count, Datatype& target_type, Op& op, Win& win, Request*& request) {
    return combine({origin, count, &type}, {}, {target, disp, target_count, target_type}, op, win, &request);
}

Err get_accumulate(const void* origin, int64_t count, Datatype* type, void* result, int64_t result_count,
                   Datatype& result_type, int target, int64_t disp, int64_t target_count,
                   Datatype& target_type, Op& op, Win& win) {
    return combine_any({origin, count, type}, {result, result_count, &result_type},
                       {target, disp, target_count, target_type}, op, win);
}

Err rget_accumulate(const void* origin, int64_t count, Datatype* type, void* result, int64_t result_count,
                    Datatype& result_type, int target, int64_t disp, int64_t target_count,
                    Datatype& target_type, Op& op, Win& win, Request*& request) {
    return combine({origin, count, type}, {result, result_count, &result_type},
                   {target, disp, target_count, target_type}, op, win, &request);
}

Err fetch_and_op(const void* origin, void* result, Datatype& type, int target, int64_t disp, Op& op,
                 Win& win) {
    if (!is_named(type))
        return fail(Err::type, "pass a predefined datatype", "the datatype is a derived one");
    return combine_any({origin, 1, &type}, {result, 1, &type}, {target, disp, 1, type}, op, win);
}

Err compare_and_swap(const void* origin, const void* compare, void* result, Datatype& type, int target,
                     int64_t disp, Win& win) {
    proto::rma::Swap s;
    if (const Err e = swap_of(type, s); e != Err::success) return e;
    if (target == proc_null) return Err::success;
    const Locked locked;
    Data there;
    if (const Err e = find_place(win, {target, disp, 1, type}, there); e != Err::success) return e;
    Sending sending(win, nullptr);
    return win.window->compare_and_swap(target, s, compare, origin, result, there.base, sending.maker());
}

} // namespace zipmpi::core
