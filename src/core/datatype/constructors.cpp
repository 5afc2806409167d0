// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Datatype constructors, except those of arrays.
#include "core/api/comm.hpp"
#include "core/api/datatype.hpp"
#include "core/attr/type_attributes.hpp"
#include "core/datatype/arguments.hpp"

#include <unordered_map>

namespace zipmpi::core {
namespace {

// User-defined names of predefined types.
std::unordered_map<const Datatype*, std::string>& user_names() {
    static auto* names = new std::unordered_map<const Datatype*, std::string>;
    return *names;
}

Err negative_block_length(int64_t i, int64_t length) {
    return fail(Err::count, "pass block lengths of 0 or more", "block length %lld is %lld",
                static_cast<long long>(i), static_cast<long long>(length));
}

// Contiguous types of `length` elements; consecutive lengths are often equal.
class Rows {
  public:
    explicit Rows(const Datatype& type)
        : unit_(shape_of(type)) {}
    const TypeShape& of(int64_t length) {
        if (length != length_) {
            row_ = row(unit_, length);
            length_ = length;
        }
        return row_;
    }
    [[nodiscard]] const TypeShape& unit() const { return unit_; }

  private:
    TypeShape unit_;
    TypeShape row_;
    int64_t length_ = -1;
};

struct Blocks {
    int64_t count;
    CountArray lengths; // unless all have the length below
    int64_t length;     // -1: they differ
    CountArray displs;
    [[nodiscard]] bool equal() const { return length >= 0; }
    [[nodiscard]] int64_t length_of(int64_t i) const { return equal() ? length : lengths[i]; }
};

// Blocks of one datatype at displacements in units of `unit` bytes.
Err indexed_shape(const Blocks& blocks, const Datatype& old, int64_t unit, TypeShape& shape) {
    Rows rows(old);
    std::vector<PlacedShape> shapes;
    shapes.reserve(static_cast<size_t>(blocks.count));
    for (int64_t i = 0; i < blocks.count; ++i) {
        const int64_t length = blocks.length_of(i);
        if (length < 0) return negative_block_length(i, length);
        int64_t at = 0;
        if (__builtin_mul_overflow(blocks.displs[i], unit, &at)) return extent_overflow();
        shapes.push_back({at, rows.of(length)});
    }
    shape = join(shapes);
    return Err::success;
}

Err vector_type(Combiner combiner, int64_t count, int64_t block, int64_t stride, int64_t unit, Datatype& old,
                Datatype*& type, bool large) {
    if (const Err e = check_usable(old); e != Err::success) return e;
    int64_t step = 0;
    if (__builtin_mul_overflow(stride, unit, &step)) return extent_overflow();
    Arguments a(combiner, large);
    a.count(count).count(block);
    combiner == Combiner::vector ? a.count(stride) : a.address(stride);
    return make_type(repeat(row(shape_of(old), block), count, step), a.with_types(old), type);
}

Err indexed_type(Combiner combiner, const Blocks& blocks, int64_t unit, Datatype& old, Datatype*& type,
                 bool large) {
    if (const Err e = check_usable(old); e != Err::success) return e;
    TypeShape shape;
    if (const Err e = indexed_shape(blocks, old, unit, shape); e != Err::success) return e;
    Arguments a(combiner, large);
    a.count(blocks.count);
    blocks.equal() ? a.count(blocks.length) : a.counts(blocks.lengths, blocks.count);
    const bool in_bytes = combiner == Combiner::hindexed || combiner == Combiner::hindexed_block;
    in_bytes ? a.addresses(blocks.displs, blocks.count) : a.counts(blocks.displs, blocks.count);
    return make_type(std::move(shape), a.with_types(old), type);
}

} // namespace

Err check_usable(const Datatype& type) {
    if (type.size >= 0) return Err::success;
    return fail(Err::type, "use a type that this platform supports", "%s is not supported on this platform",
                type.name);
}

Err extent_overflow() {
    return fail(Err::arg, "use smaller counts or displacements",
                "the extent of the datatype exceeds 2^63 - 1 bytes");
}

Err type_contiguous(int64_t count, Datatype& old, Datatype*& type, bool large) {
    if (const Err e = check_usable(old); e != Err::success) return e;
    Arguments a(Combiner::contiguous, large);
    a.count(count);
    return make_type(row(shape_of(old), count), a.with_types(old), type);
}

Err type_vector(int64_t count, int64_t block, int64_t stride, Datatype& old, Datatype*& type, bool large) {
    return vector_type(Combiner::vector, count, block, stride, old.extent, old, type, large);
}

Err type_create_hvector(int64_t count, int64_t block, int64_t stride, Datatype& old, Datatype*& type,
                        bool large) {
    return vector_type(Combiner::hvector, count, block, stride, 1, old, type, large);
}

Err type_indexed(int64_t count, CountArray blocks, CountArray displs, Datatype& old, Datatype*& type,
                 bool large) {
    return indexed_type(Combiner::indexed, {count, blocks, -1, displs}, old.extent, old, type, large);
}

Err type_create_hindexed(int64_t count, CountArray blocks, CountArray displs, Datatype& old, Datatype*& type,
                         bool large) {
    return indexed_type(Combiner::hindexed, {count, blocks, -1, displs}, 1, old, type, large);
}

Err type_create_indexed_block(int64_t count, int64_t block, CountArray displs, Datatype& old, Datatype*& type,
                              bool large) {
    return indexed_type(Combiner::indexed_block, {count, {}, block, displs}, old.extent, old, type, large);
}

Err type_create_hindexed_block(int64_t count, int64_t block, CountArray displs, Datatype& old,
                               Datatype*& type, bool large) {
    return indexed_type(Combiner::hindexed_block, {count, {}, block, displs}, 1, old, type, large);
}

Err type_create_struct(int64_t count, CountArray blocks, CountArray displs, Datatype** types, Datatype*& type,
                       bool large) {
    std::vector<PlacedShape> shapes;
    shapes.reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
        if (blocks[i] < 0) return negative_block_length(i, blocks[i]);
        if (const Err e = check_usable(*types[i]); e != Err::success) return e;
        shapes.push_back({displs[i], row(shape_of(*types[i]), blocks[i])});
    }
    TypeShape shape = join(shapes);
    pad_to_alignment(shape);
    Arguments a(Combiner::structure, large);
    a.count(count).counts(blocks, count).addresses(displs, count);
    return make_type(std::move(shape), a.with_types(types, count), type);
}

Err type_create_resized(Datatype& old, int64_t lower, int64_t extent, Datatype*& type, bool large) {
    if (const Err e = check_usable(old); e != Err::success) return e;
    TypeShape shape = shape_of(old);
    set_bounds(shape, lower, extent);
    Arguments a(Combiner::resized, large);
    a.address(lower).address(extent);
    return make_type(std::move(shape), a.with_types(old), type);
}

Err type_dup(Datatype& old, Datatype*& type) {
    if (const Err e = check_usable(old); e != Err::success) return e;
    Arguments a(Combiner::dup, false);
    if (const Err e = make_type(shape_of(old), a.with_types(old), type); e != Err::success) return e;
    type->derived->committed = is_committed(old);
    const Err e = copy_type_attributes(old, *type);
    if (e != Err::success) {
        release(*type);
        type = nullptr;
    }
    return e;
}

Err type_get_name(Datatype* type, std::string& name) {
    const auto user_name = user_names().find(type);
    if (type == nullptr)
        name = "MPI_DATATYPE_NULL";
    else if (type->derived != nullptr)
        name = type->derived->name;
    else
        name = user_name != user_names().end() ? user_name->second : type->name;
    return Err::success;
}

Err type_set_name(Datatype& type, const char* name) {
    (type.derived != nullptr ? type.derived->name : user_names()[&type]) = name;
    return Err::success;
}

} // namespace zipmpi::core
