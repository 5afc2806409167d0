// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Datatypes of array sections: subarrays and distributed arrays.
#include "core/api/datatype.hpp"
#include "core/datatype/arguments.hpp"

#include <algorithm>

namespace zipmpi::core {
namespace {

Err check_order(int order) {
    if (order == order_c || order == order_fortran) return Err::success;
    return fail(Err::arg, "pass MPI_ORDER_C or MPI_ORDER_FORTRAN", "order is %d", order);
}

// Dimensions from fastest to slowest varying, with the stride in bytes of each.
class Dimensions {
  public:
    Dimensions(int64_t dims, CountArray sizes, int order, int64_t extent)
        : dims_(dims)
        , order_(order) {
        int64_t stride = extent;
        for (int64_t i = 0; i < dims; ++i) {
            strides_.push_back(stride);
            too_large_ |= __builtin_mul_overflow(stride, sizes[at(i)], &stride);
        }
        total_ = stride;
    }
    // Index in the caller's arrays of the i-th fastest dimension.
    [[nodiscard]] int64_t at(int64_t i) const { return order_ == order_fortran ? i : dims_ - 1 - i; }
    [[nodiscard]] int64_t stride(int64_t i) const { return strides_[static_cast<size_t>(i)]; }
    [[nodiscard]] int64_t total() const { return total_; }
    [[nodiscard]] bool too_large() const { return too_large_; }

  private:
    int64_t dims_;
    int order_;
    std::vector<int64_t> strides_;
    int64_t total_ = 0;
    bool too_large_ = false;
};

TypeShape displaced(const TypeShape& shape, int64_t by) { return by == 0 ? shape : join({{by, shape}}); }

Err check_subarray(int64_t dims, CountArray sizes, CountArray subsizes, CountArray starts) {
    for (int64_t i = 0; i < dims; ++i) {
        const bool fits = sizes[i] >= 1 && subsizes[i] >= 1 && subsizes[i] <= sizes[i] && starts[i] >= 0 &&
                          starts[i] <= sizes[i] - subsizes[i];
        if (fits) continue;
        return fail(
            Err::arg, "keep the subarray within the array, with at least one element per dimension",
            "dimension %lld: a subarray of %lld elements starting at %lld exceeds the array size %lld",
            static_cast<long long>(i), static_cast<long long>(subsizes[i]), static_cast<long long>(starts[i]),
            static_cast<long long>(sizes[i]));
    }
    return Err::success;
}

// Distribution of one dimension.
struct Distribution {
    int64_t size;
    int kind;
    int64_t argument;
    int64_t processes;
    int64_t coordinate; // of this process
};

Err invalid_distribution(int64_t dimension, const char* why) {
    return fail(Err::arg, "see MPI_Type_create_darray for valid combinations", "dimension %lld: %s",
                static_cast<long long>(dimension), why);
}

Err check_distribution(int64_t dimension, Distribution& dist) {
    const bool has_argument = dist.argument != distribute_default;
    if (dist.size < 1) return invalid_distribution(dimension, "the array has no elements");
    if (dist.kind == distribute_none)
        return dist.processes == 1
                   ? Err::success
                   : invalid_distribution(dimension, "MPI_DISTRIBUTE_NONE has several processes");
    if (has_argument && dist.argument < 1)
        return invalid_distribution(dimension, "the distribution argument is less than 1");
    if (dist.kind == distribute_cyclic) {
        if (!has_argument) dist.argument = 1;
        return Err::success;
    }
    if (dist.kind != distribute_block) return invalid_distribution(dimension, "the distribution is unknown");
    const int64_t needed = (dist.size + dist.processes - 1) / dist.processes;
    if (!has_argument) dist.argument = needed;
    return dist.argument >= needed ? Err::success
                                   : invalid_distribution(dimension, "the blocks do not cover the array");
}

// The part of the dimension owned by this process, with elements `what` at distance `stride`.
TypeShape distributed_shape(const TypeShape& what, int64_t stride, const Distribution& dist) {
    if (dist.kind == distribute_none) return repeat(what, dist.size, stride);
    const int64_t block = std::min(dist.argument, dist.size);
    if (dist.coordinate > (dist.size - 1) / block)
        return repeat(what, 0, stride); // no block left for this process
    const int64_t first = block * dist.coordinate;
    const int64_t rest = dist.size - first; // 1 or more
    if (dist.kind == distribute_block)
        return displaced(repeat(what, std::min(block, rest), stride), first * stride);
    int64_t round = 0; // elements from a block of this process to its next
    if (__builtin_mul_overflow(block, dist.processes, &round)) round = dist.size;
    const int64_t whole = rest < block ? 0 : (rest - block) / round + 1;
    const int64_t left = rest > whole * round ? std::min(block, rest - whole * round) : 0;
    const TypeShape blocks = repeat(repeat(what, block, stride), whole, round * stride);
    if (left == 0) return displaced(blocks, first * stride);
    return join({{first * stride, blocks}, {(first + whole * round) * stride, repeat(what, left, stride)}});
}

Err read_distributions(int size, int rank, int64_t dims, CountArray sizes, const int* distributions,
                       const int* arguments, const int* psizes, std::vector<Distribution>& dists) {
    int64_t processes = 1;
    for (int64_t i = 0; i < dims; ++i)
        if (psizes[i] < 1 || __builtin_mul_overflow(processes, static_cast<int64_t>(psizes[i]), &processes))
            return invalid_distribution(i, "the number of processes is not positive or overflows");
    if (size < 1 || processes != size || rank < 0 || rank >= size)
        return fail(Err::arg, "pass a grid of `size` processes and a rank in it",
                    "rank %d of %d does not fit a process grid of %lld", rank, size,
                    static_cast<long long>(processes));
    int64_t left = rank;
    for (int64_t i = 0; i < dims; ++i) { // ranks are row-major in the process grid, whatever the order
        processes /= psizes[i];
        Distribution dist{sizes[i], distributions[i], arguments[i], psizes[i], left / processes};
        left %= processes;
        if (const Err e = check_distribution(i, dist); e != Err::success) return e;
        dists.push_back(dist);
    }
    return Err::success;
}

} // namespace

Err type_create_subarray(int64_t dims, CountArray sizes, CountArray subsizes, CountArray starts, int order,
                         Datatype& old, Datatype*& type, bool large) {
    if (const Err e = check_usable(old); e != Err::success) return e;
    if (const Err e = check_order(order); e != Err::success) return e;
    if (const Err e = check_subarray(dims, sizes, subsizes, starts); e != Err::success) return e;
    const Dimensions d(dims, sizes, order, old.extent);
    if (d.too_large()) return extent_overflow();
    TypeShape shape = shape_of(old);
    int64_t first = 0;
    for (int64_t i = 0; i < dims; ++i) {
        shape = repeat(shape, subsizes[d.at(i)], d.stride(i));
        first += starts[d.at(i)] * d.stride(i);
    }
    shape = displaced(shape, first);
    set_bounds(shape, 0, d.total());
    Arguments a(Combiner::subarray, large);
    a.integer(dims).counts(sizes, dims).counts(subsizes, dims).counts(starts, dims).integer(order);
    return make_type(std::move(shape), a.with_types(old), type);
}

Err type_create_darray(int size, int rank, int64_t dims, CountArray sizes, const int* distributions,
                       const int* arguments, const int* psizes, int order, Datatype& old, Datatype*& type,
                       bool large) {
    if (const Err e = check_usable(old); e != Err::success) return e;
    if (const Err e = check_order(order); e != Err::success) return e;
    std::vector<Distribution> dists;
    if (const Err e = read_distributions(size, rank, dims, sizes, distributions, arguments, psizes, dists);
        e != Err::success)
        return e;
    const Dimensions d(dims, sizes, order, old.extent);
    if (d.too_large()) return extent_overflow();
    TypeShape shape = shape_of(old);
    for (int64_t i = 0; i < dims; ++i)
        shape = distributed_shape(shape, d.stride(i), dists[static_cast<size_t>(d.at(i))]);
    set_bounds(shape, 0, d.total());
    Arguments a(Combiner::darray, large);
    a.integer(size).integer(rank).integer(dims).counts(sizes, dims);
    a.integers(distributions, dims).integers(arguments, dims).integers(psizes, dims).integer(order);
    return make_type(std::move(shape), a.with_types(old), type);
}

} // namespace zipmpi::core
