// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Constructors of datatypes, except those of arrays.
#include "core/attr/type_extras.hpp"
#include "core/datatype/arguments.hpp"

namespace zipmpi::core {
namespace {

Err negative_block(int64_t i, int64_t length) {
    return fail(Err::count, "pass block lengths of 0 or more", "block length %lld is %lld",
                static_cast<long long>(i), static_cast<long long>(length));
}

// Rows of one datatype by their length; neighbours are often equal.
class Rows {
  public:
    explicit Rows(const Datatype& type)
        : unit_(shape_of(type)) {}
    const Shape& of(int64_t length) {
        if (length != length_) {
            row_ = row(unit_, length);
            length_ = length;
        }
        return row_;
    }
    [[nodiscard]] const Shape& unit() const { return unit_; }

  private:
    Shape unit_;
    Shape row_;
    int64_t length_ = -1;
};

struct Blocks {
    int64_t count;
    CountArray lengths; // unless all have the length below
    int64_t length;     // -1: they differ
    CountArray places;
    [[nodiscard]] bool equal() const { return length >= 0; }
    [[nodiscard]] int64_t length_of(int64_t i) const { return equal() ? length : lengths[i]; }
};

// Blocks of one datatype at places that count in `unit` bytes.
Err indexed_shape(const Blocks& blocks, const Datatype& old, int64_t unit, Shape& shape) {
    Rows rows(old);
    std::vector<PlacedShape> parts;
    parts.reserve(static_cast<size_t>(blocks.count));
    for (int64_t i = 0; i < blocks.count; ++i) {
        const int64_t length = blocks.length_of(i);
        if (length < 0) return negative_block(i, length);
        int64_t at = 0;
        if (__builtin_mul_overflow(blocks.places[i], unit, &at)) return too_far();
        parts.push_back({at, rows.of(length)});
    }
    shape = join(parts);
    return Err::success;
}

Err vector_type(Combiner combiner, int64_t count, int64_t block, int64_t stride, int64_t unit, Datatype& old,
                Datatype*& type, bool large) {
    if (const Err e = usable(old); e != Err::success) return e;
    int64_t step = 0;
    if (__builtin_mul_overflow(stride, unit, &step)) return too_far();
    Arguments a(combiner, large);
    a.count(count).count(block);
    combiner == Combiner::vector ? a.count(stride) : a.address(stride);
    return make_type(repeat(row(shape_of(old), block), count, step), a.of(old), type);
}

Err indexed_type(Combiner combiner, const Blocks& blocks, int64_t unit, Datatype& old, Datatype*& type,
                 bool large) {
    if (const Err e = usable(old); e != Err::success) return e;
    Shape shape;
    if (const Err e = indexed_shape(blocks, old, unit, shape); e != Err::success) return e;
    Arguments a(combiner, large);
    a.count(blocks.count);
    blocks.equal() ? a.count(blocks.length) : a.counts(blocks.lengths, blocks.count);
    const bool in_bytes = combiner == Combiner::hindexed || combiner == Combiner::hindexed_block;
    in_bytes ? a.addresses(blocks.places, blocks.count) : a.counts(blocks.places, blocks.count);
    return make_type(std::move(shape), a.of(old), type);
}

} // namespace

Err usable(const Datatype& type) {
    if (type.size >= 0) return Err::success;
    return fail(Err::type, "use a type that the compilers of this platform have", "%s does not exist here",
                type.name);
}

Err too_far() {
    return fail(Err::arg, "use smaller counts or displacements",
                "the datatype would reach further than 63 bits can say");
}

Err type_contiguous(int64_t count, Datatype& old, Datatype*& type, bool large) {
    if (const Err e = usable(old); e != Err::success) return e;
    Arguments a(Combiner::contiguous, large);
    a.count(count);
    return make_type(row(shape_of(old), count), a.of(old), type);
}

Err type_vector(int64_t count, int64_t block, int64_t stride, Datatype& old, Datatype*& type, bool large) {
    return vector_type(Combiner::vector, count, block, stride, old.extent, old, type, large);
}

Err type_create_hvector(int64_t count, int64_t block, int64_t stride, Datatype& old, Datatype*& type,
                        bool large) {
    return vector_type(Combiner::hvector, count, block, stride, 1, old, type, large);
}

Err type_indexed(int64_t count, CountArray blocks, CountArray places, Datatype& old, Datatype*& type,
                 bool large) {
    return indexed_type(Combiner::indexed, {count, blocks, -1, places}, old.extent, old, type, large);
}

Err type_create_hindexed(int64_t count, CountArray blocks, CountArray places, Datatype& old, Datatype*& type,
                         bool large) {
    return indexed_type(Combiner::hindexed, {count, blocks, -1, places}, 1, old, type, large);
}

Err type_create_indexed_block(int64_t count, int64_t block, CountArray places, Datatype& old, Datatype*& type,
                              bool large) {
    return indexed_type(Combiner::indexed_block, {count, {}, block, places}, old.extent, old, type, large);
}

Err type_create_hindexed_block(int64_t count, int64_t block, CountArray places, Datatype& old,
                               Datatype*& type, bool large) {
    return indexed_type(Combiner::hindexed_block, {count, {}, block, places}, 1, old, type, large);
}

Err type_create_struct(int64_t count, CountArray blocks, CountArray places, Datatype** types, Datatype*& type,
                       bool large) {
    std::vector<PlacedShape> parts;
    parts.reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
        if (blocks[i] < 0) return negative_block(i, blocks[i]);
        if (const Err e = usable(*types[i]); e != Err::success) return e;
        parts.push_back({places[i], row(shape_of(*types[i]), blocks[i])});
    }
    Shape shape = join(parts);
    pad_to_alignment(shape);
    Arguments a(Combiner::structure, large);
    a.count(count).counts(blocks, count).addresses(places, count);
    return make_type(std::move(shape), a.of(types, count), type);
}

Err type_create_resized(Datatype& old, int64_t lower, int64_t extent, Datatype*& type, bool large) {
    if (const Err e = usable(old); e != Err::success) return e;
    Shape shape = shape_of(old);
    set_bounds(shape, lower, extent);
    Arguments a(Combiner::resized, large);
    a.address(lower).address(extent);
    return make_type(std::move(shape), a.of(old), type);
}

Err type_dup(Datatype& old, Datatype*& type) {
    if (const Err e = usable(old); e != Err::success) return e;
    Arguments a(Combiner::dup, false);
    const Err e = make_type(shape_of(old), a.of(old), type);
    if (e != Err::success) return e;
    type->derived->committed = is_committed(old);
    return copy_type_attributes(old, *type);
}

} // namespace zipmpi::core
