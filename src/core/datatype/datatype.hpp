// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Datatypes: the predefined ones. A message carries extent-sized elements; sizes in statuses count the type's
// bytes.
#pragma once

#include "core/builtin.hpp"
#include "core/object.hpp"

#include <complex>
#include <cstddef>
#include <cstdint>

namespace zipmpi::core {

// Types that stand for datatypes without a C type that reductions could use directly.
template <class T>
struct Logical {
    T value;
};
struct Character {
    char value;
};
struct Character4 {
    int32_t value;
};
template <class A, class B>
struct Pair {
    A value;
    B index;
};
struct Unsupported {}; // this platform has no such type: size MPI_UNDEFINED

// Strips the parentheses around a type in a list of builtin types: Argument<void (int)>::type is int.
template <class>
struct Argument;
template <class T>
struct Argument<void(T)> {
    using type = T;
};

struct Datatype : Object {
    static constexpr Class class_id = Class::datatype;
    TypeId id{};
    const char* name = "";
    int64_t size = 0;   // bytes of data in one element; undefined if unsupported
    int64_t extent = 0; // distance between elements
};

} // namespace zipmpi::core
