// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/win/combine.hpp"

#include "core/datatype/derived.hpp"
#include "core/engine.hpp"

namespace zipmpi::core {
namespace {

using proto::rma::Combine;
using proto::rma::Swap;

constexpr TypeId no_type = TypeId::count_;

// Pairs of different members; those of equal ones look like two elements.
constexpr TypeId mixed_pairs[] = {TypeId::FLOAT_INT, TypeId::DOUBLE_INT, TypeId::LONG_INT, TypeId::SHORT_INT,
                                  TypeId::LONG_DOUBLE_INT};

TypeId basic_of(const SignaturePtr& signature) {
    for (const TypeId pair : mixed_pairs)
        if (signature == signature_of(pair)) return pair;
    TypeId found = no_type;
    for (const Term& t : signature->terms) {
        const TypeId one = t.what != nullptr ? basic_of(t.what) : t.basic;
        if (one == no_type || (found != no_type && found != one)) return no_type;
        found = one;
    }
    return found;
}

TypeId pair_of_equals(TypeId member) {
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

// False: the operation does not take the type.
bool fill(OpId op, TypeId type, Combine& c) {
    const Datatype& basic = builtin_type(type);
    if (basic.size <= 0) return false;
    c.kind = op == OpId::REPLACE ? Combine::Kind::replace
             : op == OpId::NO_OP ? Combine::Kind::fetch_only
                                 : Combine::Kind::combine;
    c.code = code_of(op, type);
    c.element_bytes = static_cast<uint32_t>(basic.size);
    c.alignment = static_cast<uint32_t>(basic.alignment);
    c.step = step_of(op, type);
    c.by_cpu = c.step != nullptr;
    c.adds = op == OpId::SUM;
    if (c.kind != Combine::Kind::combine) return true;
    c.apply = kernel_of(op, type);
    c.gaps = basic.program;
    return c.apply != nullptr;
}

bool combine_by_code(uint32_t code, Combine& c) {
    OpId op{};
    TypeId type{};
    return decode(code, op, type) && fill(op, type, c);
}

bool is_compared(TypeId id) {
    return kernel_of(OpId::BAND, id) != nullptr || kernel_of(OpId::LAND, id) != nullptr;
}

bool fill(TypeId type, Swap& s) {
    const Datatype& basic = builtin_type(type);
    if (basic.size <= 0 || basic.size > 8 || !is_compared(type)) return false;
    s.bytes = static_cast<uint32_t>(basic.size);
    s.by_cpu = step_of(OpId::REPLACE, type) != nullptr;
    s.code = code_of(OpId::REPLACE, type);
    return true;
}

bool swap_by_code(uint32_t code, Swap& s) {
    OpId op{};
    TypeId type{};
    return decode(code, op, type) && fill(type, s);
}

} // namespace

const proto::rma::Window::Codes window_codes{combine_by_code, swap_by_code};

uint8_t plain_bytes(const Datatype& type) noexcept {
    return type.program == nullptr && type.size > 0 && type.size <= 64 ? static_cast<uint8_t>(type.size) : 0;
}

bool is_stepped(const Datatype& type) noexcept { return step_of(OpId::REPLACE, type.id) != nullptr; }

TypeId basic_type_of(const Datatype& type) { return is_named(type) ? type.id : basic_of(signature_of(type)); }

Err combine_of(const Op& op, const Datatype& type, Combine& c) {
    if (!op.predefined())
        return fail(Err::op, "pass a predefined operation, such as MPI_SUM",
                    "operations of the program cannot be used on windows");
    TypeId basic = basic_type_of(type);
    if ((op.id == OpId::MINLOC || op.id == OpId::MAXLOC) && !is_named(type) && basic != no_type &&
        pair_of_equals(basic) != no_type)
        basic = pair_of_equals(basic);
    if (basic == no_type) {
        const bool moves = op.id == OpId::REPLACE || op.id == OpId::NO_OP;
        if (!moves && type.size > 0)
            return fail(Err::type, "pass a datatype whose elements are all of one predefined type",
                        "%s cannot combine a datatype of several types", op.name);
        basic = TypeId::BYTE;
    }
    if (fill(type.size > 0 ? op.id : OpId::NO_OP, basic, c)) return Err::success;
    return fail(Err::op, "pass an operation and a datatype that go together", "%s does not take %s", op.name,
                builtin_type(basic).name);
}

bool plain_combine_of(const Op& op, const Datatype& type, Combine& c) {
    return op.predefined() && is_named(type) && fill(op.id, type.id, c);
}

Err swap_of(const Datatype& type, Swap& s) {
    if (is_named(type) && fill(type.id, s)) return Err::success;
    return fail(Err::type, "pass a predefined integer, logical or byte type",
                "elements of this datatype cannot be compared and swapped");
}

} // namespace zipmpi::core
