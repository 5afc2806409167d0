// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/win/accumulate_op.hpp"

#include "core/datatype/derived.hpp"
#include "core/runtime.hpp"

namespace zipmpi::core {
namespace {

using proto::rma::AccumulateOp;
using proto::rma::CompareSwapOp;

constexpr TypeId no_type = TypeId::count_;

// Pairs with different member types; pairs with equal ones are treated as two elements.
constexpr TypeId mixed_pairs[] = {TypeId::FLOAT_INT, TypeId::DOUBLE_INT, TypeId::LONG_INT, TypeId::SHORT_INT,
                                  TypeId::LONG_DOUBLE_INT};

TypeId basic_of(const SignaturePtr& signature) {
    for (const TypeId pair : mixed_pairs)
        if (signature == signature_of(pair)) return pair;
    TypeId found = no_type;
    for (const SignatureTerm& t : signature->terms) {
        const TypeId one = t.signature != nullptr ? basic_of(t.signature) : t.basic;
        if (one == no_type || (found != no_type && found != one)) return no_type;
        found = one;
    }
    return found;
}

TypeId pair_type_of(TypeId member) {
    for (const TypeId pair : {TypeId::N2INT, TypeId::N2REAL, TypeId::N2DOUBLE_PRECISION, TypeId::N2INTEGER})
        if (is_pair(pair, member, member)) return pair;
    return no_type;
}

bool decode(uint32_t code, OpId& op, TypeId& type) {
    if (code >> 8 >= static_cast<uint32_t>(OpId::count_) ||
        (code & 255) >= static_cast<uint32_t>(TypeId::count_))
        return false;
    op = static_cast<OpId>(code >> 8);
    type = static_cast<TypeId>(code & 255);
    return true;
}

uint32_t code_of(OpId op, TypeId type) {
    return static_cast<uint32_t>(op) << 8 | static_cast<uint32_t>(type);
}
static_assert(static_cast<int>(TypeId::count_) < 256);

// Returns false if the operation is not defined for the type.
bool fill(OpId op, TypeId type, AccumulateOp& c) {
    const Datatype& basic = builtin_type(type);
    if (basic.size <= 0) return false;
    c.kind = op == OpId::REPLACE ? AccumulateOp::Kind::replace
             : op == OpId::NO_OP ? AccumulateOp::Kind::fetch_only
                                 : AccumulateOp::Kind::combine;
    c.code = code_of(op, type);
    c.element_bytes = static_cast<uint32_t>(basic.size);
    c.alignment = static_cast<uint32_t>(basic.alignment);
    c.atomic_apply = atomic_kernel_of(op, type);
    c.cpu_atomic = c.atomic_apply != nullptr;
    c.is_sum = op == OpId::SUM;
    if (c.kind != AccumulateOp::Kind::combine) return true;
    c.apply = kernel_of(op, type);
    c.layout = basic.layout;
    return c.apply != nullptr;
}

bool accumulate_op_by_code(uint32_t code, AccumulateOp& c) {
    OpId op{};
    TypeId type{};
    return decode(code, op, type) && fill(op, type, c);
}

bool is_comparable(TypeId id) {
    return kernel_of(OpId::BAND, id) != nullptr || kernel_of(OpId::LAND, id) != nullptr;
}

bool fill(TypeId type, CompareSwapOp& s) {
    const Datatype& basic = builtin_type(type);
    if (basic.size <= 0 || basic.size > 8 || !is_comparable(type)) return false;
    s.bytes = static_cast<uint32_t>(basic.size);
    s.cpu_atomic = atomic_kernel_of(OpId::REPLACE, type) != nullptr;
    s.code = code_of(OpId::REPLACE, type);
    return true;
}

bool compare_swap_op_by_code(uint32_t code, CompareSwapOp& s) {
    OpId op{};
    TypeId type{};
    return decode(code, op, type) && fill(type, s);
}

} // namespace

const proto::rma::OpDecoder window_op_decoder{accumulate_op_by_code, compare_swap_op_by_code};

uint8_t contiguous_size(const Datatype& type) noexcept {
    return type.layout == nullptr && type.size > 0 && type.size <= 64 ? static_cast<uint8_t>(type.size) : 0;
}

bool has_cpu_atomics(const Datatype& type) noexcept {
    return atomic_kernel_of(OpId::REPLACE, type.id) != nullptr;
}

TypeId basic_type_of(const Datatype& type) { return is_named(type) ? type.id : basic_of(signature_of(type)); }

Err make_accumulate_op(const Op& op, const Datatype& type, AccumulateOp& c) {
    if (!op.predefined())
        return fail(Err::op, "pass a predefined operation such as MPI_SUM",
                    "user-defined operations cannot be used in RMA calls");
    TypeId basic = basic_type_of(type);
    if ((op.id == OpId::MINLOC || op.id == OpId::MAXLOC) && !is_named(type) && basic != no_type &&
        pair_type_of(basic) != no_type)
        basic = pair_type_of(basic);
    if (basic == no_type) {
        const bool moves = op.id == OpId::REPLACE || op.id == OpId::NO_OP;
        if (!moves && type.size > 0)
            return fail(Err::type, "pass a datatype whose elements are all of one predefined type",
                        "%s is not defined for a datatype with several predefined types", op.name);
        basic = TypeId::BYTE;
    }
    if (fill(type.size > 0 ? op.id : OpId::NO_OP, basic, c)) return Err::success;
    return fail(Err::op, "pass an operation that is defined for the datatype", "%s is not defined for %s",
                op.name, builtin_type(basic).name);
}

bool make_simple_accumulate_op(const Op& op, const Datatype& type, AccumulateOp& c) {
    return op.predefined() && is_named(type) && fill(op.id, type.id, c);
}

Err make_compare_swap_op(const Datatype& type, CompareSwapOp& s) {
    if (is_named(type) && fill(type.id, s)) return Err::success;
    return fail(Err::type, "pass a predefined integer, logical or byte type",
                "compare-and-swap is not defined for this datatype");
}

} // namespace zipmpi::core
