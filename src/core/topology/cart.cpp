// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Cartesian topologies.
#include "core/api/topology.hpp"
#include "core/comm/split.hpp"
#include "core/runtime_state.hpp"
#include "core/topology/cart_math.hpp"
#include "core/topology/reorder.hpp"
#include "core/topology/topology_util.hpp"

#include <algorithm>
#include <limits>

namespace zipmpi::core {
namespace {

Err check_cart(const Comm& comm, int ndims, const int* dims, const int* periods, Cart& cart) {
    if (const Err e = require_intra(comm); e != Err::success) return e;
    if (ndims < 0) return fail(Err::dims, "pass 0 or more", "ndims is %d", ndims);
    if (ndims > 0 && (dims == nullptr || periods == nullptr))
        return fail(Err::arg, "pass an array", "dims or periods is a null pointer");
    int64_t size = 1;
    for (int i = 0; i < ndims; ++i) {
        if (dims[i] <= 0) return fail(Err::dims, "pass 1 or more", "dims[%d] is %d", i, dims[i]);
        size = std::min<int64_t>(size * dims[i], std::numeric_limits<int>::max());
        cart.dims.push_back(dims[i]);
        cart.periods.push_back(periods[i] != 0);
    }
    if (size > comm.team.size)
        return fail(Err::dims, "pass dimensions whose product is at most the size of the communicator",
                    "the grid has %lld positions, %s has %d ranks", static_cast<long long>(size),
                    name_of(comm).c_str(), comm.team.size);
    return Err::success;
}

std::vector<CommEdge> edges_of(const Cart& cart) {
    std::vector<CommEdge> edges;
    for (int r = 0; r < size_of(cart); ++r) {
        const std::vector<int> coords = coords_of(cart, r);
        for (int d = 0; d < static_cast<int>(cart.dims.size()); ++d)
            if (const int next = shifted(cart, coords, d, 1); next != proc_null)
                edges.push_back({r, next, 1});
    }
    return edges;
}

Err cart_of(const Comm& comm, const Cart*& cart) {
    const Topology* topology = nullptr;
    const Err e = topology_of(comm, TopologyKind::cart, topology);
    if (e == Err::success) cart = &topology->cart;
    return e;
}

std::shared_ptr<Topology> cart_topology(Cart cart) {
    auto topology = std::make_shared<Topology>();
    topology->kind = TopologyKind::cart;
    topology->cart = std::move(cart);
    return topology;
}

} // namespace

Err cart_create(Comm& comm, int ndims, const int* dims, const int* periods, bool reorder, Comm*& result) {
    Cart cart;
    if (const Err e = check_cart(comm, ndims, dims, periods, cart); e != Err::success) return e;
    Order order = identity_order(size_of(cart));
    if (reorder)
        if (const Err e = collective_order(comm, size_of(cart), edges_of(cart), order); e != Err::success)
            return e;
    const int new_rank = own_rank_in(order, comm);
    if (new_rank != undefined) cart.coords = coords_of(cart, new_rank);
    return make_with_topology(comm, order, cart_topology(std::move(cart)), result);
}

Err cart_map(Comm& comm, int ndims, const int* dims, const int* periods, int& new_rank) {
    Cart cart;
    if (const Err e = check_cart(comm, ndims, dims, periods, cart); e != Err::success) return e;
    new_rank = own_rank_in(local_order(comm, size_of(cart), edges_of(cart)), comm);
    return Err::success;
}

Err cartdim_get(Comm& comm, int& ndims) {
    const Cart* cart = nullptr;
    if (const Err e = cart_of(comm, cart); e != Err::success) return e;
    ndims = static_cast<int>(cart->dims.size());
    return Err::success;
}

Err cart_get(Comm& comm, int maxdims, int* dims, int* periods, int* coords) {
    const Cart* cart = nullptr;
    if (const Err e = cart_of(comm, cart); e != Err::success) return e;
    const size_t n = cart->dims.size();
    if (maxdims < static_cast<int>(n))
        return fail(Err::arg, "pass arrays of the length that MPI_Cartdim_get returns",
                    "maxdims is %d, the grid has %zu dimensions", maxdims, n);
    std::copy(cart->dims.begin(), cart->dims.end(), dims);
    std::copy(cart->periods.begin(), cart->periods.end(), periods);
    std::copy(cart->coords.begin(), cart->coords.end(), coords);
    return Err::success;
}

Err cart_rank(Comm& comm, const int* coords, int& rank) {
    const Cart* cart = nullptr;
    if (const Err e = cart_of(comm, cart); e != Err::success) return e;
    if (!cart->dims.empty() && coords == nullptr)
        return fail(Err::arg, "pass an array", "coords is a null pointer");
    std::vector<int> at(cart->dims.size());
    for (size_t i = 0; i < at.size(); ++i) {
        const int extent = cart->dims[i];
        at[i] = coords[i];
        if (at[i] >= 0 && at[i] < extent) continue;
        if (!cart->periods[i])
            return fail(Err::arg, "pass coordinates within the grid",
                        "coords[%zu] is %d, the dimension has size %d and is not periodic", i, at[i], extent);
        at[i] = ((at[i] % extent) + extent) % extent;
    }
    rank = rank_at(*cart, at);
    return Err::success;
}

Err cart_coords(Comm& comm, int rank, int maxdims, int* coords) {
    const Cart* cart = nullptr;
    if (const Err e = cart_of(comm, cart); e != Err::success) return e;
    const std::vector<int> at = coords_of(*cart, rank);
    if (maxdims < static_cast<int>(at.size()))
        return fail(Err::arg, "pass an array of the length that MPI_Cartdim_get returns",
                    "maxdims is %d, the grid has %zu dimensions", maxdims, at.size());
    std::copy(at.begin(), at.end(), coords);
    return Err::success;
}

Err cart_shift(Comm& comm, int direction, int disp, int& source, int& destination) {
    const Cart* cart = nullptr;
    if (const Err e = cart_of(comm, cart); e != Err::success) return e;
    if (direction < 0 || direction >= static_cast<int>(cart->dims.size()))
        return fail(Err::dims, "pass a dimension of the grid, counted from 0",
                    "direction is %d, the grid has %zu dimensions", direction, cart->dims.size());
    source = shifted(*cart, cart->coords, direction, -int64_t{disp});
    destination = shifted(*cart, cart->coords, direction, disp);
    return Err::success;
}

// Processes with equal coordinates in the dropped dimensions share a color; the remaining coordinates
// determine the key.
Err cart_sub(Comm& comm, const int* remain, Comm*& result) {
    const Cart* cart = nullptr;
    if (const Err e = cart_of(comm, cart); e != Err::success) return e;
    if (!cart->dims.empty() && remain == nullptr)
        return fail(Err::arg, "pass an array", "remain_dims is a null pointer");
    Cart sub_cart;
    int color = 0;
    for (size_t i = 0; i < cart->dims.size(); ++i) {
        if (remain[i] == 0) {
            color = color * cart->dims[i] + cart->coords[i];
            continue;
        }
        sub_cart.dims.push_back(cart->dims[i]);
        sub_cart.periods.push_back(cart->periods[i]);
        sub_cart.coords.push_back(cart->coords[i]);
    }
    const Err e = split(comm, color, rank_at(sub_cart, sub_cart.coords), result);
    if (e == Err::success) result->topology = cart_topology(std::move(sub_cart));
    return e;
}

Err dims_create(int nnodes, int ndims, int* dims) {
    if (nnodes <= 0) return fail(Err::arg, "pass 1 or more", "nnodes is %d", nnodes);
    if (ndims < 0) return fail(Err::dims, "pass 0 or more", "ndims is %d", ndims);
    int64_t fixed = 1;
    int open = 0;
    for (int i = 0; i < ndims; ++i) {
        if (dims[i] < 0)
            return fail(Err::dims, "pass 0 for a dimension to be chosen", "dims[%d] is %d", i, dims[i]);
        if (dims[i] == 0)
            ++open;
        else
            fixed = std::min<int64_t>(fixed * dims[i], int64_t{nnodes} + 1);
    }
    if (nnodes % fixed != 0 || (open == 0 && fixed != nnodes && ndims > 0))
        return fail(Err::dims, "pass dimensions whose product divides nnodes",
                    "%d processes do not fill a grid with these fixed dimensions", nnodes);
    const std::vector<int> factors = balanced_factors(static_cast<int>(nnodes / fixed), open);
    size_t next = 0;
    for (int i = 0; i < ndims; ++i)
        if (dims[i] == 0) dims[i] = factors[next++];
    return Err::success;
}

} // namespace zipmpi::core
