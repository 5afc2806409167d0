// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Neighborhood collectives: direct messages, one per edge, cost d * (a + n b) with d neighbors; between
// clusters one message for all edges.
//
// Two processes may be neighbors more than once. Messages between them match in send order, which is the
// order of the destinations. In a grid, data sent in the negative direction arrives from the positive
// direction, so each pair of receives is posted in reverse order.
#include "core/api/topology.hpp"
#include "core/coll/builder.hpp"
#include "core/runtime.hpp"
#include "core/topology/topology.hpp"

#include <vector>

namespace zipmpi::core {

namespace coll = proto::coll;

namespace {

// Calls fill with the neighbors of this process.
template <class Fill>
Err with_neighbors(const CallForm& form, Comm& comm, const Fill& fill) {
    Neighbors neighbors;
    if (const Err e = neighbors_of(comm, neighbors); e != Err::success) return e;
    return collective(form, comm, [&](CollectiveBuilder& p) { fill(p, neighbors); });
}

void exchange(CollectiveBuilder& p, const Neighbors& neighbors, coll::Blocks send, coll::Blocks recv) {
    if (p.schedule().state() != Err::success) return;
    const bool is_cart = p.comm().topology->kind == TopologyKind::cart;
    std::vector<coll::ExchangeItem> in;
    std::vector<coll::ExchangeItem> out;
    for (size_t i = 0; i < neighbors.sources.size(); ++i) {
        const size_t from = is_cart ? i ^ 1U : i;
        if (neighbors.sources[from] != proc_null) in.push_back({neighbors.sources[from], recv[from]});
    }
    for (size_t i = 0; i < neighbors.destinations.size(); ++i)
        if (neighbors.destinations[i] != proc_null) out.push_back({neighbors.destinations[i], send[i]});
    coll::exchange(p.collective(), p.team(), out, in);
}

// Blocks of equal size at a constant distance; 0: all at one address.
coll::Blocks equal_blocks(CollectiveBuilder& p, const std::byte* base, size_t bytes, size_t distance,
                          size_t n) {
    coll::Block* list = p.blocks(static_cast<int>(n));
    if (list == nullptr) return {};
    for (size_t i = 0; i < n; ++i) list[i] = {const_cast<std::byte*>(base) + i * distance, bytes};
    return {list, n};
}

// Edges from MPI_PROC_NULL leave their part of the receive buffer unchanged: nothing may be unpacked there.
coll::Blocks incoming_blocks(CollectiveBuilder& p, void* rbuf, int64_t rcount, Datatype& rtype,
                             const std::vector<int>& sources) {
    const size_t n = sources.size();
    coll::Block* list = p.blocks(static_cast<int>(n));
    if (list == nullptr) return {};
    for (size_t i = 0; i < n; ++i) list[i] = {};
    for (size_t i = 0; i < n; ++i)
        if (sources[i] != proc_null)
            list[i] = {
                p.incoming(static_cast<std::byte*>(rbuf) + static_cast<int64_t>(i) * rcount * rtype.extent,
                           rcount, rtype),
                wire_bytes(rcount, rtype)};
    return {list, n};
}

struct Counts {
    std::vector<int64_t> values; // 0 for an edge from MPI_PROC_NULL
    Counts(CountArray counts, const std::vector<int>& sources) {
        for (size_t i = 0; i < sources.size(); ++i)
            values.push_back(sources[i] != proc_null ? counts[static_cast<int64_t>(i)] : 0);
    }
    [[nodiscard]] CountArray array() const { return {values.data(), true}; }
};

int degree(const std::vector<int>& neighbors) { return static_cast<int>(neighbors.size()); }

} // namespace

int sources_of(const Comm& comm) noexcept {
    Neighbors neighbors;
    return neighbors_of(comm, neighbors) == Err::success ? degree(neighbors.sources) : 0;
}

int destinations_of(const Comm& comm) noexcept {
    Neighbors neighbors;
    return neighbors_of(comm, neighbors) == Err::success ? degree(neighbors.destinations) : 0;
}

Err neighbor_allgather(const CallForm& form, const void* sbuf, int64_t scount, Datatype& stype, void* rbuf,
                       int64_t rcount, Datatype& rtype, Comm& comm) {
    return with_neighbors(form, comm, [&](CollectiveBuilder& p, const Neighbors& nb) {
        const std::byte* input = p.outgoing(sbuf, scount, stype);
        exchange(p, nb, equal_blocks(p, input, wire_bytes(scount, stype), 0, nb.destinations.size()),
                 incoming_blocks(p, rbuf, rcount, rtype, nb.sources));
    });
}

Err neighbor_allgatherv(const CallForm& form, const void* sbuf, int64_t scount, Datatype& stype, void* rbuf,
                        CountArray rcounts, CountArray displs, Datatype& rtype, Comm& comm) {
    return with_neighbors(form, comm, [&](CollectiveBuilder& p, const Neighbors& nb) {
        const std::byte* input = p.outgoing(sbuf, scount, stype);
        exchange(p, nb, equal_blocks(p, input, wire_bytes(scount, stype), 0, nb.destinations.size()),
                 p.incoming(rbuf, Counts(rcounts, nb.sources).array(), displs, rtype, degree(nb.sources)));
    });
}

Err neighbor_alltoall(const CallForm& form, const void* sbuf, int64_t scount, Datatype& stype, void* rbuf,
                      int64_t rcount, Datatype& rtype, Comm& comm) {
    return with_neighbors(form, comm, [&](CollectiveBuilder& p, const Neighbors& nb) {
        const size_t n = nb.destinations.size();
        const size_t bytes = wire_bytes(scount, stype);
        const std::byte* out = p.outgoing(sbuf, scount * static_cast<int64_t>(n), stype);
        exchange(p, nb, equal_blocks(p, out, bytes, bytes, n),
                 incoming_blocks(p, rbuf, rcount, rtype, nb.sources));
    });
}

Err neighbor_alltoallv(const CallForm& form, const void* sbuf, CountArray scounts, CountArray sdispls,
                       Datatype& stype, void* rbuf, CountArray rcounts, CountArray rdispls, Datatype& rtype,
                       Comm& comm) {
    return with_neighbors(form, comm, [&](CollectiveBuilder& p, const Neighbors& nb) {
        const coll::Blocks out = p.outgoing(sbuf, scounts, sdispls, stype, degree(nb.destinations));
        exchange(p, nb, out,
                 p.incoming(rbuf, Counts(rcounts, nb.sources).array(), rdispls, rtype, degree(nb.sources)));
    });
}

Err neighbor_alltoallw(const CallForm& form, const void* sbuf, CountArray scounts, CountArray sdispls,
                       Datatype** stypes, void* rbuf, CountArray rcounts, CountArray rdispls,
                       Datatype** rtypes, Comm& comm) {
    return with_neighbors(form, comm, [&](CollectiveBuilder& p, const Neighbors& nb) {
        const coll::Blocks out = p.outgoing(sbuf, scounts, sdispls, stypes, degree(nb.destinations));
        exchange(p, nb, out,
                 p.incoming(rbuf, Counts(rcounts, nb.sources).array(), rdispls, rtypes, degree(nb.sources)));
    });
}

} // namespace zipmpi::core
