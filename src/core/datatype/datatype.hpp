// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Datatypes. The predefined ones are in a table, derived ones in a slab with what they are made of. A message
// carries the bytes of data of its elements without the gaps between them.
#pragma once

#include "core/builtin.hpp"
#include "core/object.hpp"
#include "layout/program.hpp"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>

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

struct Derived;

struct Datatype : Object {
    static constexpr Class class_id = Class::datatype;
    TypeId id = TypeId::count_; // of a predefined type, named or not; count_: of a derived one
    const char* name = "";      // of a named predefined type
    int64_t size = 0;           // bytes of data in one element; undefined if unsupported
    int64_t lower = 0;
    int64_t extent = 0; // distance between elements
    int64_t true_lower = 0;
    int64_t true_extent = 0;
    int64_t alignment = 1;
    const layout::Program* program = nullptr; // null: data without gaps, within and between elements
    Derived* derived = nullptr;               // owned; null: a named predefined type
};

// A type that is used by a request, or by another type, lives on after the program has freed it.
void retain(Datatype& type);
void release(Datatype& type);

// A counted share of a datatype.
struct ReleaseType {
    void operator()(Datatype* type) const { release(*type); }
};
using TypeShare = std::unique_ptr<Datatype, ReleaseType>;
inline TypeShare share(Datatype& type) {
    retain(type);
    return TypeShare(&type);
}

inline bool is_named(const Datatype& type) { return type.derived == nullptr; }
Datatype* datatype_by_index(uint32_t index);

} // namespace zipmpi::core
