// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/op/op.hpp"

#include "core/api/coll.hpp"
#include "core/datatype/datatype.hpp"
#include "core/runtime.hpp"
#include "core/runtime_state.hpp"
#include "core/slab.hpp"

#include <array>

namespace zipmpi::core {
namespace {

struct OpTable {
    std::array<Op, static_cast<size_t>(OpId::count_)> ops;
    constexpr OpTable() {
        constexpr const char* names[] = {
#define ZIPMPI_X(id, name) name,
            ZIPMPI_BUILTIN_OPS(ZIPMPI_X)
#undef ZIPMPI_X
        };
        for (size_t i = 0; i < ops.size(); ++i) {
            ops[i].cls = ObjectKind::op;
            ops[i].index = static_cast<uint32_t>(i);
            ops[i].id = static_cast<OpId>(i);
            ops[i].name = names[i];
            ops[i].commutative = ops[i].id != OpId::REPLACE && ops[i].id != OpId::NO_OP;
        }
    }
};

// Constant-initialized: threads may use it before any code of this file runs.
constinit OpTable table;

Slab<Op>& slab() {
    static auto* const s = new Slab<Op>; // never destroyed: see slab.hpp
    return *s;
}

} // namespace

Op& builtin_op(OpId id) noexcept { return table.ops[static_cast<size_t>(id)]; }

bool op_supports(const Op& op, const Datatype& type) noexcept {
    return !op.predefined() || kernel_of(op.id, type.id) != nullptr;
}

Op* op_by_index(uint32_t index) { return slab().find(index); }

Op* share(Op& op) {
    op.refs.fetch_add(1, std::memory_order_relaxed);
    return &op;
}

void release(Op& op) {
    if (op.refs.fetch_sub(1, std::memory_order_acq_rel) == 1 && !op.predefined()) slab().destroy(op);
}

Err op_create(void* user_function, UserReduction call, bool commutes, Op*& op) {
    op = slab().make();
    if (op == nullptr) return fail(Err::no_mem, "free memory", "no memory for another operation");
    op->refs.store(1, std::memory_order_relaxed);
    op->name = "a user-defined operation";
    op->commutative = commutes;
    op->user_function = user_function;
    op->call = call;
    return Err::success;
}

void* user_function_of(const Op& op) noexcept { return op.user_function; }

void set_user_function(Op& op, void* user_function, UserReduction call) noexcept {
    op.user_function = user_function;
    op.call = call;
}

Err op_free(Op*& op) {
    if (op->predefined())
        return fail(Err::op, "free only operations that the application created", "%s cannot be freed",
                    op->name);
    release(*op);
    op = nullptr;
    return Err::success;
}

Err op_commutative(Op& op, bool& commutes) {
    commutes = op.commutative;
    return Err::success;
}

} // namespace zipmpi::core
