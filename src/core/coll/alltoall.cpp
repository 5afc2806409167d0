// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// All-to-all. In-place send data is copied first because it will be overwritten.
#include "core/api/coll.hpp"
#include "core/coll/alias_check.hpp"
#include "core/coll/builder.hpp"

namespace zipmpi::core {

namespace coll = proto::coll;

namespace {

void exchange(CollectiveBuilder& p, coll::Blocks send, coll::Blocks recv) {
    if (p.schedule().state() != Err::success) return;
    if (p.comm().inter())
        coll::alltoallv(p.schedule(), p.inter(), send, recv);
    else
        coll::alltoallv(p.collective(), p.team(), send, recv);
}

// Contiguous blocks of equal size.
coll::Blocks contiguous_blocks(CollectiveBuilder& p, const std::byte* base, size_t block) {
    const int n = p.team().size;
    coll::Block* list = p.blocks(n);
    if (list == nullptr) return {};
    for (int i = 0; i < n; ++i)
        list[i] = {const_cast<std::byte*>(base) + static_cast<size_t>(i) * block, block};
    return {list, static_cast<size_t>(n)};
}

} // namespace

Err alltoall(const CallForm& form, const void* sbuf, int64_t scount, Datatype* stype, void* rbuf,
             int64_t rcount, Datatype& rtype, Comm& comm) {
    if (!comm.inter())
        if (const Err e =
                check_no_alias(ElementRange{sbuf, scount, stype}, ElementRange{rbuf, rcount, &rtype});
            e != Err::success)
            return e;
    return collective(form, comm, [&](CollectiveBuilder& p) {
        const int n = comm.team.size;
        const size_t block = wire_bytes(rcount, rtype);
        std::byte* in = nullptr;
        const std::byte* out = nullptr;
        if (sbuf == in_place) {
            in = p.in_and_out(rbuf, rcount * n, rtype);
            std::byte* copy = p.schedule().scratch(block * static_cast<size_t>(n));
            p.schedule().copy(copy, in, block * static_cast<size_t>(n));
            out = copy;
        } else {
            out = p.outgoing(sbuf, scount * n, *stype);
            in = p.incoming(rbuf, rcount * n, rtype);
        }
        if (p.schedule().state() != Err::success) return;
        if (!comm.inter()) return coll::alltoall(p.collective(), p.team(), out, in, block);
        exchange(p, contiguous_blocks(p, out, wire_bytes(scount, *stype)), contiguous_blocks(p, in, block));
    });
}

Err alltoallv(const CallForm& form, const void* sbuf, CountArray scounts, CountArray sdispls, Datatype* stype,
              void* rbuf, CountArray rcounts, CountArray rdispls, Datatype& rtype, Comm& comm) {
    if (!comm.inter() && sbuf != in_place)
        if (const Err e =
                check_no_alias(ElementRange{sbuf, scounts[comm.team.rank], stype, sdispls[comm.team.rank]},
                               ElementRange{rbuf, rcounts[comm.team.rank], &rtype, rdispls[comm.team.rank]});
            e != Err::success)
            return e;
    return collective(form, comm, [&](CollectiveBuilder& p) {
        const int n = comm.team.size;
        const bool is_in_place = sbuf == in_place;
        const coll::Blocks send = is_in_place ? p.copy_of(p.outgoing(rbuf, rcounts, rdispls, rtype, n))
                                              : p.outgoing(sbuf, scounts, sdispls, *stype, n);
        exchange(p, send, p.incoming(rbuf, rcounts, rdispls, rtype, n));
    });
}

Err alltoallw(const CallForm& form, const void* sbuf, CountArray scounts, CountArray sdispls,
              Datatype** stypes, void* rbuf, CountArray rcounts, CountArray rdispls, Datatype** rtypes,
              Comm& comm) {
    if (!comm.inter() && sbuf != in_place) {
        const int rank = comm.team.rank; // displacements are in bytes
        const ElementRange input{static_cast<const std::byte*>(sbuf) + sdispls[rank], scounts[rank],
                                 stypes[rank]};
        const ElementRange result{static_cast<std::byte*>(rbuf) + rdispls[rank], rcounts[rank], rtypes[rank]};
        if (const Err e = check_no_alias(input, result); e != Err::success) return e;
    }
    return collective(form, comm, [&](CollectiveBuilder& p) {
        const int n = comm.team.size;
        const bool is_in_place = sbuf == in_place;
        const coll::Blocks send = is_in_place ? p.copy_of(p.outgoing(rbuf, rcounts, rdispls, rtypes, n))
                                              : p.outgoing(sbuf, scounts, sdispls, stypes, n);
        exchange(p, send, p.incoming(rbuf, rcounts, rdispls, rtypes, n));
    });
}

} // namespace zipmpi::core
