// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Datatypes for parts of arrays: a box, and what one process has of a distributed array.
#include "core/datatype/arguments.hpp"

#include <algorithm>

namespace zipmpi::core {
namespace {

Err check_order(int order) {
    if (order == order_c || order == order_fortran) return Err::success;
    return fail(Err::arg, "pass MPI_ORDER_C or MPI_ORDER_FORTRAN", "order is %d", order);
}

// Dimensions from the fastest to the slowest, with the distance in bytes of neighbours in each.
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
    // Which dimension of the caller's arrays is the i-th fastest.
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

Shape moved(const Shape& shape, int64_t by) { return by == 0 ? shape : join({{by, shape}}); }

Err check_box(int64_t dims, CountArray sizes, CountArray subsizes, CountArray starts) {
    for (int64_t i = 0; i < dims; ++i) {
        const bool fits = sizes[i] >= 1 && subsizes[i] >= 1 && subsizes[i] <= sizes[i] && starts[i] >= 0 &&
                          starts[i] <= sizes[i] - subsizes[i];
        if (fits) continue;
        return fail(Err::arg, "keep the part within the array, with at least one element in each dimension",
                    "in dimension %lld a part of %lld elements from %lld does not lie in an array of %lld",
                    static_cast<long long>(i), static_cast<long long>(subsizes[i]),
                    static_cast<long long>(starts[i]), static_cast<long long>(sizes[i]));
    }
    return Err::success;
}

// How one dimension is dealt out.
struct Deal {
    int64_t size;
    int distribution;
    int64_t argument;
    int64_t processes;
    int64_t place; // of this process
};

Err bad_deal(int64_t dimension, const char* why) {
    return fail(Err::arg, "see MPI_Type_create_darray for what goes together", "in dimension %lld %s",
                static_cast<long long>(dimension), why);
}

Err check_deal(int64_t dimension, Deal& deal) {
    const bool given = deal.argument != distribute_default;
    if (deal.size < 1) return bad_deal(dimension, "the array has no elements");
    if (deal.distribution == distribute_none)
        return deal.processes == 1 ? Err::success
                                   : bad_deal(dimension, "MPI_DISTRIBUTE_NONE has several processes");
    if (given && deal.argument < 1) return bad_deal(dimension, "the distribution argument is less than 1");
    if (deal.distribution == distribute_cyclic) {
        if (!given) deal.argument = 1;
        return Err::success;
    }
    if (deal.distribution != distribute_block) return bad_deal(dimension, "the distribution is unknown");
    const int64_t needed = (deal.size + deal.processes - 1) / deal.processes;
    if (!given) deal.argument = needed;
    return deal.argument >= needed ? Err::success
                                   : bad_deal(dimension, "the blocks do not hold the whole array");
}

// What this process gets of the dimension, where an element is `what` and neighbours are `stride` apart.
Shape dealt(const Shape& what, int64_t stride, const Deal& deal) {
    if (deal.distribution == distribute_none) return repeat(what, deal.size, stride);
    const int64_t block = std::min(deal.argument, deal.size);
    if (deal.place > (deal.size - 1) / block)
        return repeat(what, 0, stride); // dealt out before it is this one's turn
    const int64_t first = block * deal.place;
    const int64_t rest = deal.size - first; // 1 or more
    if (deal.distribution == distribute_block)
        return moved(repeat(what, std::min(block, rest), stride), first * stride);
    int64_t round = 0; // elements from a block of this process to its next
    if (__builtin_mul_overflow(block, deal.processes, &round)) round = deal.size;
    const int64_t whole = rest < block ? 0 : (rest - block) / round + 1;
    const int64_t left = rest > whole * round ? std::min(block, rest - whole * round) : 0;
    const Shape blocks = repeat(repeat(what, block, stride), whole, round * stride);
    if (left == 0) return moved(blocks, first * stride);
    return join({{first * stride, blocks}, {(first + whole * round) * stride, repeat(what, left, stride)}});
}

Err read_deals(int size, int rank, int64_t dims, CountArray sizes, const int* distributions,
               const int* arguments, const int* grid, std::vector<Deal>& deals) {
    int64_t processes = 1;
    for (int64_t i = 0; i < dims; ++i)
        if (grid[i] < 1 || __builtin_mul_overflow(processes, static_cast<int64_t>(grid[i]), &processes))
            return bad_deal(i, "the process grid makes no sense");
    if (size < 1 || processes != size || rank < 0 || rank >= size)
        return fail(Err::arg, "pass a grid of `size` processes and a rank in it",
                    "rank %d of %d does not fit a grid of %lld", rank, size,
                    static_cast<long long>(processes));
    int64_t left = rank;
    for (int64_t i = 0; i < dims; ++i) { // ranks run along the last dimension first, whatever the order
        processes /= grid[i];
        Deal deal{sizes[i], distributions[i], arguments[i], grid[i], left / processes};
        left %= processes;
        if (const Err e = check_deal(i, deal); e != Err::success) return e;
        deals.push_back(deal);
    }
    return Err::success;
}

} // namespace

Err type_create_subarray(int64_t dims, CountArray sizes, CountArray subsizes, CountArray starts, int order,
                         Datatype& old, Datatype*& type, bool large) {
    if (const Err e = usable(old); e != Err::success) return e;
    if (const Err e = check_order(order); e != Err::success) return e;
    if (const Err e = check_box(dims, sizes, subsizes, starts); e != Err::success) return e;
    const Dimensions d(dims, sizes, order, old.extent);
    if (d.too_large()) return too_far();
    Shape shape = shape_of(old);
    int64_t first = 0;
    for (int64_t i = 0; i < dims; ++i) {
        shape = repeat(shape, subsizes[d.at(i)], d.stride(i));
        first += starts[d.at(i)] * d.stride(i);
    }
    shape = moved(shape, first);
    set_bounds(shape, 0, d.total());
    Arguments a(Combiner::subarray, large);
    a.integer(dims).counts(sizes, dims).counts(subsizes, dims).counts(starts, dims).integer(order);
    return make_type(std::move(shape), a.of(old), type);
}

Err type_create_darray(int size, int rank, int64_t dims, CountArray sizes, const int* distributions,
                       const int* arguments, const int* grid, int order, Datatype& old, Datatype*& type,
                       bool large) {
    if (const Err e = usable(old); e != Err::success) return e;
    if (const Err e = check_order(order); e != Err::success) return e;
    std::vector<Deal> deals;
    if (const Err e = read_deals(size, rank, dims, sizes, distributions, arguments, grid, deals);
        e != Err::success)
        return e;
    const Dimensions d(dims, sizes, order, old.extent);
    if (d.too_large()) return too_far();
    Shape shape = shape_of(old);
    for (int64_t i = 0; i < dims; ++i) shape = dealt(shape, d.stride(i), deals[static_cast<size_t>(d.at(i))]);
    set_bounds(shape, 0, d.total());
    Arguments a(Combiner::darray, large);
    a.integer(size).integer(rank).integer(dims).counts(sizes, dims);
    a.integers(distributions, dims).integers(arguments, dims).integers(grid, dims).integer(order);
    return make_type(std::move(shape), a.of(old), type);
}

} // namespace zipmpi::core
