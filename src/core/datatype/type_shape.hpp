// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The shape of a datatype: layout, signature and bounds. All MPI constructors are built from the three
// operations below.
#pragma once

#include "core/datatype/signature.hpp"
#include "packing/layout_node.hpp"

namespace zipmpi::core {

struct Datatype;

struct TypeShape {
    packing::PlacedNode layout;
    SignaturePtr signature;
    int64_t size = 0;
    int64_t lower = 0;
    int64_t upper = 0;
    int64_t alignment = 1;
    bool bounded = false;   // has an entry, so that its bounds are meaningful
    bool lower_set = false; // bounds set by MPI_Type_create_resized or markers override those of the data
    bool upper_set = false;
    bool too_large = false; // exceeds 63 bits; all other members are invalid

    [[nodiscard]] int64_t extent() const { return upper - lower; }
};

struct PlacedShape {
    int64_t at = 0;
    TypeShape shape;
};

TypeShape shape_of(const Datatype& type);
TypeShape repeat(const TypeShape& what, int64_t count, int64_t stride);
// repeat() without holes between repetitions
inline TypeShape row(const TypeShape& what, int64_t count) { return repeat(what, count, what.extent()); }
TypeShape join(const std::vector<PlacedShape>& shapes);
// Rounds the extent up as a C compiler does for a structure.
void pad_to_alignment(TypeShape& shape);
void set_bounds(TypeShape& shape, int64_t lower, int64_t extent);

} // namespace zipmpi::core
