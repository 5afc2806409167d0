// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// From an operation and a type that are known when the program runs to what was made for just these: one
// list of all pairs, for whatever there is one of per pair.
#pragma once

#include "core/builtin.hpp"
#include "core/op/elements.hpp"

namespace zipmpi::core {

// Choose has: static Result of<op, T>().
template <class Result, class Choose, OpId op>
Result choose_by_type(TypeId type) {
    switch (type) {
#define ZIPMPI_X(id, name, ctype)                                                                            \
    case TypeId::id:                                                                                         \
        return Choose::template of<op, typename Argument<void ctype>::type>();
        ZIPMPI_BUILTIN_TYPES(ZIPMPI_X)
#undef ZIPMPI_X
    case TypeId::count_:
        break;
    }
    return nullptr;
}

template <class Result, class Choose>
Result choose_by_op_and_type(OpId op, TypeId type) {
    switch (op) {
#define ZIPMPI_X(id, name)                                                                                   \
    case OpId::id:                                                                                           \
        return choose_by_type<Result, Choose, OpId::id>(type);
        ZIPMPI_BUILTIN_OPS(ZIPMPI_X)
#undef ZIPMPI_X
    case OpId::count_:
        break;
    }
    return nullptr;
}

} // namespace zipmpi::core
