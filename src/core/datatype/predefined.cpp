// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Lookup of predefined datatypes: parameterized Fortran types, types by class and size, and pairs.
#include "core/api/datatype.hpp"
#include "core/datatype/arguments.hpp"

#include <map>
#include <tuple>

namespace zipmpi::core {
namespace {

struct RealKind {
    int precision; // decimal digits
    int range;     // decimal exponent
    TypeId real;
    TypeId complex;
};
constexpr RealKind real_kinds[] = {
    {6, 37, TypeId::REAL, TypeId::COMPLEX},
    {15, 307, TypeId::DOUBLE_PRECISION, TypeId::DOUBLE_COMPLEX},
    {18, 4931, TypeId::LONG_DOUBLE, TypeId::C_LONG_DOUBLE_COMPLEX},
    {33, 4931, TypeId::REAL16, TypeId::COMPLEX32},
};

struct IntegerKind {
    int range;
    TypeId integer;
};
constexpr IntegerKind integer_kinds[] = {
    {2, TypeId::INTEGER1}, {4, TypeId::INTEGER2}, {9, TypeId::INTEGER4}, {18, TypeId::INTEGER8}};

struct SizedType {
    TypeClass type_class;
    int size;
    TypeId id;
};
// A long double of 16 bytes is not a REAL*16: its format differs.
constexpr SizedType sized_types[] = {
    {TypeClass::integer, 1, TypeId::INTEGER1},   {TypeClass::integer, 2, TypeId::INTEGER2},
    {TypeClass::integer, 4, TypeId::INTEGER4},   {TypeClass::integer, 8, TypeId::INTEGER8},
    {TypeClass::real, 4, TypeId::REAL4},         {TypeClass::real, 8, TypeId::REAL8},
    {TypeClass::real, 16, TypeId::REAL16},       {TypeClass::complex, 8, TypeId::COMPLEX8},
    {TypeClass::complex, 16, TypeId::COMPLEX16}, {TypeClass::complex, 32, TypeId::COMPLEX32},
    {TypeClass::logical, 1, TypeId::LOGICAL1},   {TypeClass::logical, 2, TypeId::LOGICAL2},
    {TypeClass::logical, 4, TypeId::LOGICAL4},   {TypeClass::logical, 8, TypeId::LOGICAL8},
};

bool satisfies(int has, int wanted) { return wanted == undefined || wanted <= has; }

Err no_matching_type() {
    return fail(Err::arg, "pass a smaller precision or range",
                "no type of this platform has this precision and range");
}

// Equal arguments return the same type each time; it is never freed.
Err make_f90_type(TypeId id, Combiner combiner, int first, int second, Datatype*& type) {
    static auto* made = new std::map<std::tuple<Combiner, int, int>, Datatype*>;
    Datatype*& cached = (*made)[{combiner, first, second}];
    if (cached == nullptr) {
        Arguments a(combiner, false);
        a.integer(first);
        if (combiner != Combiner::f90_integer) a.integer(second);
        if (const Err e = make_type(shape_of(builtin_type(id)), a.without_types(), cached); e != Err::success)
            return e;
        cached->id = id; // reductions treat it like the named type
        cached->derived->committed = cached->derived->permanent = true;
    }
    type = cached;
    return Err::success;
}

Err make_f90_floating(Combiner combiner, int precision, int range, Datatype*& type) {
    if (precision == undefined && range == undefined)
        return fail(Err::arg, "pass a precision or a range", "both are MPI_UNDEFINED");
    for (const RealKind& kind : real_kinds)
        if (satisfies(kind.precision, precision) && satisfies(kind.range, range))
            return make_f90_type(combiner == Combiner::f90_real ? kind.real : kind.complex, combiner,
                                 precision, range, type);
    return no_matching_type();
}

} // namespace

Err type_create_f90_real(int precision, int range, Datatype*& type) {
    return make_f90_floating(Combiner::f90_real, precision, range, type);
}

Err type_create_f90_complex(int precision, int range, Datatype*& type) {
    return make_f90_floating(Combiner::f90_complex, precision, range, type);
}

Err type_create_f90_integer(int range, Datatype*& type) {
    for (const IntegerKind& kind : integer_kinds)
        if (range <= kind.range) return make_f90_type(kind.integer, Combiner::f90_integer, range, 0, type);
    return no_matching_type();
}

Err type_match_size(TypeClass type_class, int size, Datatype*& type) {
    for (const SizedType& row : sized_types) {
        if (row.type_class != type_class || row.size != size) continue;
        type = &builtin_type(row.id);
        return Err::success;
    }
    return fail(Err::arg, "pass the size of a variable of this class", "this class has no type of %d bytes",
                size);
}

Err type_get_value_index(Datatype& value, Datatype& index, Datatype*& pair) {
    pair = nullptr;
    for (int i = 0; i < static_cast<int>(TypeId::count_); ++i) {
        const auto id = static_cast<TypeId>(i);
        if (is_pair(id, value.id, index.id)) pair = &builtin_type(id);
    }
    return Err::success;
}

} // namespace zipmpi::core
