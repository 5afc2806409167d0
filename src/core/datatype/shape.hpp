// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a datatype is beyond its handle: layout, signature and bounds. Every constructor of MPI is made of the
// three operations below.
#pragma once

#include "core/datatype/signature.hpp"
#include "layout/node.hpp"

namespace zipmpi::core {

struct Datatype;

struct Shape {
    layout::Placed layout;
    SignaturePtr signature;
    int64_t size = 0;
    int64_t lower = 0;
    int64_t upper = 0;
    int64_t alignment = 1;
    bool bounded = false;   // has an entry, so that its bounds mean something
    bool lower_set = false; // bounds set by MPI_Type_create_resized: stronger than those of data
    bool upper_set = false;
    bool too_large = false; // beyond 63 bits; nothing else is right then

    [[nodiscard]] int64_t extent() const { return upper - lower; }
};

struct PlacedShape {
    int64_t at = 0;
    Shape shape;
};

Shape shape_of(const Datatype& type);
Shape repeat(const Shape& what, int64_t count, int64_t stride);
// repeat() one directly after the other
inline Shape row(const Shape& what, int64_t count) { return repeat(what, count, what.extent()); }
Shape join(const std::vector<PlacedShape>& parts);
// Rounds the extent up as a C compiler does for a structure.
void pad_to_alignment(Shape& shape);
void set_bounds(Shape& shape, int64_t lower, int64_t extent);

} // namespace zipmpi::core
