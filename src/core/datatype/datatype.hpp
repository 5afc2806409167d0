// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Datatypes. Predefined ones are in a table, derived ones in a slab with their constructor arguments. A
// message carries the data bytes of its elements without the holes.
#pragma once

#include "core/builtin.hpp"
#include "core/object.hpp"
#include "packing/layout.hpp"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace zipmpi::core {

// Element types for datatypes without a C type that reductions can use directly.
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
// IEEE binary128, available on all supported platforms, if not as long double.
#if __LDBL_MANT_DIG__ == 113
using Binary128 = long double;
#else
using Binary128 = __float128;
#endif
static_assert(sizeof(Binary128) == 16);
struct Unsupported {}; // no such type on this platform: size MPI_UNDEFINED
struct Marker {};      // no data: a bound of a structure, in ABIs with the constants of MPI-1

// Strips the parentheses around a type in a list of builtin types: Argument<void (int)>::type is int.
template <class>
struct Argument;
template <class T>
struct Argument<void(T)> {
    using type = T;
};

struct Derived;

struct Datatype : Object {
    static constexpr ObjectKind class_id = ObjectKind::datatype;
    TypeId id = TypeId::count_; // of a predefined type, named or not; count_: derived
    const char* name = "";      // of a named predefined type
    int64_t size = 0;           // bytes of data in one element; undefined if unsupported
    int64_t lower = 0;
    int64_t extent = 0; // distance between elements
    int64_t true_lower = 0;
    int64_t true_extent = 0;
    int64_t alignment = 1;
    const packing::Layout* layout = nullptr; // null: contiguous, within and between elements
    Derived* derived = nullptr;              // owned; null: a named predefined type
};

// A type used by a request or by another type lives on after the application has freed it.
void retain(Datatype& type);
void release(Datatype& type);

// A counted reference to a datatype.
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
