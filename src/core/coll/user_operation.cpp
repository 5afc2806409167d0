// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Operands and operators of reductions. Elements of named types are sent in memory layout, so kernels and
// user functions work on them directly. Elements of other types are sent packed; user functions receive them
// in their real layout, one batch at a time.
#include "core/api/coll.hpp"
#include "core/coll/alias_check.hpp"
#include "core/datatype/contiguous.hpp"
#include "core/runtime.hpp"

#include <algorithm>

namespace zipmpi::core {

namespace coll = proto::coll;

namespace {

constexpr int64_t batch_bytes = 65536;

struct UserOperation {
    Op* op;
    Datatype* type;
    int64_t batch; // elements; 0: operands are in memory layout
    std::byte* in; // unpacked batch: address of its first element
    std::byte* out;
};

void call_user_function(const UserOperation& user, const void* in, void* inout, int64_t count) {
    user.op->call(user.op->user_function, in, inout, count, *user.type);
}

void call_unpacked(const UserOperation& user, const std::byte* in, std::byte* inout, int64_t count) {
    for (int64_t done = 0; done < count; done += user.batch) {
        const int64_t n = std::min(user.batch, count - done);
        const uint64_t bytes = packed_bytes(n, *user.type);
        unpack_first(user.in, n, *user.type, in, bytes);
        unpack_first(user.out, n, *user.type, inout, bytes);
        call_user_function(user, user.in, user.out, n);
        pack_all(inout, user.out, n, *user.type);
        in += bytes;
        inout += bytes;
    }
}

// The user function may call MPI, so no lock is held.
void apply_user(const void* context, const void* in, void* inout, int64_t count) {
    const auto& user = *static_cast<const UserOperation*>(context);
    unlock_runtime();
    if (user.batch == 0)
        call_user_function(user, in, inout, count);
    else
        call_unpacked(user, static_cast<const std::byte*>(in), static_cast<std::byte*>(inout), count);
    lock_runtime();
}

// Contiguous elements, each starting at its address, need not be packed.
bool has_packed_layout(const Datatype& type) {
    return is_named(type) || (type.size == type.extent && type.true_lower == 0 && is_contiguous(2, type));
}

coll::ReduceOp make_reduce_op(const Op& op, const Datatype& type, int64_t count) {
    coll::ReduceOp c;
    c.count = count;
    c.element_bytes = static_cast<size_t>(is_named(type) ? type.extent : type.size);
    c.commutative = op.commutative;
    if (op.predefined()) c.apply = kernel_of(op.id, type.id);
    return c;
}

} // namespace

void CollectiveBuilder::reduce_with(Op& op, Datatype& type, int64_t count) {
    coll::ReduceOp c = make_reduce_op(op, type, count);
    packed_operands_ = !has_packed_layout(type);
    if (!op.predefined()) {
        op_ = share(op);
        retain_type(type);
        UserOperation user{&op, &type, 0, nullptr, nullptr};
        if (packed_operands_) {
            user.batch = std::max<int64_t>(1, batch_bytes / std::max<int64_t>(1, type.extent));
            const MemoryExtent span = memory_extent_of(user.batch, type);
            user.in = schedule().scratch(static_cast<size_t>(span.bytes));
            user.out = schedule().scratch(static_cast<size_t>(span.bytes));
            if (user.in == nullptr || user.out == nullptr) return;
            user.in -= span.low;
            user.out -= span.low;
        }
        c.context = schedule().make<UserOperation>(user);
        c.apply_with_context = apply_user;
    }
    schedule().set_op(c);
}

const std::byte* CollectiveBuilder::operands_in(const void* buf, int64_t count, Datatype& type) {
    return packed_operands_ ? outgoing(buf, count, type) : static_cast<const std::byte*>(buf);
}

std::byte* CollectiveBuilder::operands_out(void* buf, int64_t count, Datatype& type) {
    return packed_operands_ ? incoming(buf, count, type) : static_cast<std::byte*>(buf);
}

std::byte* CollectiveBuilder::operands_in_and_out(void* buf, int64_t count, Datatype& type) {
    return packed_operands_ ? in_and_out(buf, count, type) : static_cast<std::byte*>(buf);
}

Err reduce_local(const void* in, void* inout, int64_t count, Datatype& type, Op& op) {
    if (const Err e = check_no_alias(in, inout, count, type); e != Err::success) return e;
    coll::ReduceOp c = make_reduce_op(op, type, count);
    const UserOperation user{&op, &type, 0, nullptr, nullptr};
    if (!op.predefined()) {
        c.context = &user;
        c.apply_with_context = apply_user;
    }
    c(in, inout, count);
    return Err::success;
}

} // namespace zipmpi::core
