// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives with the neighbours in a topology: straight messages, one per edge, d * (a + n b) with d
// neighbours; between clusters one for all edges.
//
// Two processes may be neighbours more than once. Messages between them are matched in the order in which
// they are sent: that of the destinations. In a grid what is sent down a dimension comes from above, so there
// each pair of receives is posted in the other order.
#include "core/coll/forms.hpp"
#include "core/topo/topology.hpp"

#include <vector>

namespace zipmpi::core {

namespace coll = proto::coll;

namespace {

// Fills a plan when the neighbours are known.
template <class Fill>
Err with_neighbours(const Form& form, Comm& comm, const Fill& fill) {
    Neighbours neighbours;
    if (const Err e = neighbours_of(comm, neighbours); e != Err::success) return e;
    return collective(form, comm, [&](Plan& p) { fill(p, neighbours); });
}

void exchange(Plan& p, const Neighbours& neighbours, coll::Blocks send, coll::Blocks recv) {
    if (p.schedule().state() != Err::success) return;
    const bool grid = p.comm().topology->kind == TopologyKind::cart;
    std::vector<coll::Item> in;
    std::vector<coll::Item> out;
    for (size_t i = 0; i < neighbours.sources.size(); ++i) {
        const size_t from = grid ? i ^ 1U : i;
        if (neighbours.sources[from] != proc_null) in.push_back({neighbours.sources[from], recv[from]});
    }
    for (size_t i = 0; i < neighbours.destinations.size(); ++i)
        if (neighbours.destinations[i] != proc_null) out.push_back({neighbours.destinations[i], send[i]});
    coll::exchange(p.schedule(), p.team(), out, in);
}

// Blocks of one size with that distance between them; 0: all the same.
coll::Blocks equal_blocks(Plan& p, const std::byte* base, size_t bytes, size_t distance, size_t n) {
    coll::Block* list = p.blocks(static_cast<int>(n));
    if (list == nullptr) return {};
    for (size_t i = 0; i < n; ++i) list[i] = {const_cast<std::byte*>(base) + i * distance, bytes};
    return {list, n};
}

// Edges from nowhere leave their part of the receive buffer as it is: nothing may be unpacked there.
coll::Blocks incoming_blocks(Plan& p, void* rbuf, int64_t rcount, Datatype& rtype,
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
    std::vector<int64_t> values; // 0 for an edge from nowhere
    Counts(CountArray given, const std::vector<int>& sources) {
        for (size_t i = 0; i < sources.size(); ++i)
            values.push_back(sources[i] != proc_null ? given[static_cast<int64_t>(i)] : 0);
    }
    [[nodiscard]] CountArray array() const { return {values.data(), true}; }
};

int degree(const std::vector<int>& neighbours) { return static_cast<int>(neighbours.size()); }

} // namespace

int sources_of(const Comm& comm) noexcept {
    Neighbours neighbours;
    return neighbours_of(comm, neighbours) == Err::success ? degree(neighbours.sources) : 0;
}

int destinations_of(const Comm& comm) noexcept {
    Neighbours neighbours;
    return neighbours_of(comm, neighbours) == Err::success ? degree(neighbours.destinations) : 0;
}

Err neighbor_allgather(const Form& form, const void* sbuf, int64_t scount, Datatype& stype, void* rbuf,
                       int64_t rcount, Datatype& rtype, Comm& comm) {
    return with_neighbours(form, comm, [&](Plan& p, const Neighbours& nb) {
        const std::byte* mine = p.outgoing(sbuf, scount, stype);
        exchange(p, nb, equal_blocks(p, mine, wire_bytes(scount, stype), 0, nb.destinations.size()),
                 incoming_blocks(p, rbuf, rcount, rtype, nb.sources));
    });
}

Err neighbor_allgatherv(const Form& form, const void* sbuf, int64_t scount, Datatype& stype, void* rbuf,
                        CountArray rcounts, CountArray displs, Datatype& rtype, Comm& comm) {
    return with_neighbours(form, comm, [&](Plan& p, const Neighbours& nb) {
        const std::byte* mine = p.outgoing(sbuf, scount, stype);
        exchange(p, nb, equal_blocks(p, mine, wire_bytes(scount, stype), 0, nb.destinations.size()),
                 p.incoming(rbuf, Counts(rcounts, nb.sources).array(), displs, rtype, degree(nb.sources)));
    });
}

Err neighbor_alltoall(const Form& form, const void* sbuf, int64_t scount, Datatype& stype, void* rbuf,
                      int64_t rcount, Datatype& rtype, Comm& comm) {
    return with_neighbours(form, comm, [&](Plan& p, const Neighbours& nb) {
        const size_t n = nb.destinations.size();
        const size_t bytes = wire_bytes(scount, stype);
        const std::byte* out = p.outgoing(sbuf, scount * static_cast<int64_t>(n), stype);
        exchange(p, nb, equal_blocks(p, out, bytes, bytes, n),
                 incoming_blocks(p, rbuf, rcount, rtype, nb.sources));
    });
}

Err neighbor_alltoallv(const Form& form, const void* sbuf, CountArray scounts, CountArray sdispls,
                       Datatype& stype, void* rbuf, CountArray rcounts, CountArray rdispls, Datatype& rtype,
                       Comm& comm) {
    return with_neighbours(form, comm, [&](Plan& p, const Neighbours& nb) {
        const coll::Blocks out = p.outgoing(sbuf, scounts, sdispls, stype, degree(nb.destinations));
        exchange(p, nb, out,
                 p.incoming(rbuf, Counts(rcounts, nb.sources).array(), rdispls, rtype, degree(nb.sources)));
    });
}

Err neighbor_alltoallw(const Form& form, const void* sbuf, CountArray scounts, CountArray sdispls,
                       Datatype** stypes, void* rbuf, CountArray rcounts, CountArray rdispls,
                       Datatype** rtypes, Comm& comm) {
    return with_neighbours(form, comm, [&](Plan& p, const Neighbours& nb) {
        const coll::Blocks out = p.outgoing(sbuf, scounts, sdispls, stypes, degree(nb.destinations));
        exchange(p, nb, out,
                 p.incoming(rbuf, Counts(rcounts, nb.sources).array(), rdispls, rtypes, degree(nb.sources)));
    });
}

} // namespace zipmpi::core
