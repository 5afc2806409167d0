// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Dispatch from a runtime pair of reduction operation and datatype to a template instantiation, by one list
// of all valid pairs.
#pragma once

#include "core/builtin.hpp"
#include "core/op/elements.hpp"

namespace zipmpi::core {

// Choose provides: static Result of<op, T>().
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
