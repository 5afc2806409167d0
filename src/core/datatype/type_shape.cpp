// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/datatype/type_shape.hpp"

#include "core/datatype/derived.hpp"

#include <algorithm>

namespace zipmpi::core {
namespace {

// Checked arithmetic that records overflow.
struct CheckedInt {
    bool overflow = false;
    int64_t times(int64_t a, int64_t b) {
        int64_t r = 0;
        overflow |= __builtin_mul_overflow(a, b, &r);
        return r;
    }
    int64_t plus(int64_t a, int64_t b) {
        int64_t r = 0;
        overflow |= __builtin_add_overflow(a, b, &r);
        return r;
    }
};

// Combined bounds of several components: explicitly set bounds take precedence.
struct Bound {
    bool any = false;
    bool set = false;
    int64_t value = 0;
    template <class Better>
    void add(int64_t candidate, bool is_set, const Better& better) {
        if (set && !is_set) return;
        if (!any || (is_set && !set) || better(candidate, value)) value = candidate;
        any = true;
        set |= is_set;
    }
};

// A component that sets one bound and has no data (MPI_LB, MPI_UB) does not influence the other one.
bool affects_lower(const TypeShape& s) { return s.layout.node != nullptr || s.lower_set || !s.upper_set; }
bool affects_upper(const TypeShape& s) { return s.layout.node != nullptr || s.upper_set || !s.lower_set; }

// The ends of data must fit, too: displacements are added without checks later.
void check_data_bounds(const TypeShape& s, int64_t at, int64_t first, int64_t last, CheckedInt& c) {
    if (s.layout.node == nullptr) return;
    const int64_t begin = c.plus(s.layout.at, at);
    c.plus(c.plus(begin, first), s.layout.node->low);
    c.plus(c.plus(begin, last), s.layout.node->high);
}

} // namespace

TypeShape shape_of(const Datatype& type) {
    if (type.derived != nullptr) return type.derived->shape;
    TypeShape s;
    if (type.layout != nullptr)
        s.layout = {type.layout->first, type.layout->root};
    else
        s.layout = packing::run(type.size);
    s.signature = signature_of(type.id);
    s.size = type.size;
    s.upper = type.extent;
    s.alignment = type.alignment;
    s.bounded = true;
    s.lower_set = type.id == TypeId::LB;
    s.upper_set = type.id == TypeId::UB;
    return s;
}

TypeShape repeat(const TypeShape& what, int64_t count, int64_t stride) {
    TypeShape s;
    s.signature = repeated(what.signature, count);
    s.too_large = what.too_large;
    if (count == 0 || !what.bounded) return s;
    CheckedInt c;
    const int64_t last = c.times(count - 1, stride);
    s.size = c.times(what.size, count);
    s.lower = c.plus(what.lower, std::min<int64_t>(0, last));
    s.upper = c.plus(what.upper, std::max<int64_t>(0, last));
    c.plus(s.upper, -s.lower);
    check_data_bounds(what, 0, std::min<int64_t>(0, last), std::max<int64_t>(0, last), c);
    s.alignment = what.alignment;
    s.bounded = what.bounded;
    s.lower_set = what.lower_set;
    s.upper_set = what.upper_set;
    s.too_large |= c.overflow;
    if (!s.too_large) s.layout = packing::repeat(what.layout, count, stride);
    return s;
}

TypeShape join(const std::vector<PlacedShape>& shapes) {
    TypeShape s;
    CheckedInt c;
    Bound lower;
    Bound upper;
    std::vector<packing::PlacedNode> placed;
    std::vector<SignaturePtr> signatures;
    placed.reserve(shapes.size());
    signatures.reserve(shapes.size());
    for (const PlacedShape& p : shapes) {
        const TypeShape& shape = p.shape;
        s.too_large |= shape.too_large;
        signatures.push_back(shape.signature);
        if (!shape.bounded) continue;
        s.size = c.plus(s.size, shape.size);
        if (affects_lower(shape)) lower.add(c.plus(p.at, shape.lower), shape.lower_set, std::less<>{});
        if (affects_upper(shape)) upper.add(c.plus(p.at, shape.upper), shape.upper_set, std::greater<>{});
        check_data_bounds(shape, p.at, 0, 0, c);
        s.alignment = std::max(s.alignment, shape.alignment);
        if (!c.overflow) placed.push_back({shape.layout.at + p.at, shape.layout.node});
    }
    s.lower = lower.value;
    s.upper = upper.any ? upper.value : lower.value;
    s.bounded = lower.any || upper.any;
    s.lower_set = lower.set;
    s.upper_set = upper.set;
    c.plus(s.upper, -s.lower);
    s.too_large |= c.overflow;
    s.signature = joined(signatures);
    if (!s.too_large) s.layout = packing::sequence(placed);
    return s;
}

void pad_to_alignment(TypeShape& shape) {
    if (shape.upper_set || !shape.bounded || shape.too_large) return;
    const int64_t over = shape.extent() % shape.alignment;
    if (over == 0) return;
    CheckedInt c;
    shape.upper = c.plus(shape.upper, shape.alignment - (over > 0 ? over : over + shape.alignment));
    shape.too_large = c.overflow;
}

void set_bounds(TypeShape& shape, int64_t lower, int64_t extent) {
    CheckedInt c;
    shape.lower = lower;
    shape.upper = c.plus(lower, extent);
    shape.too_large |= c.overflow;
    shape.bounded = shape.lower_set = shape.upper_set = true;
}

} // namespace zipmpi::core
