// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Gather and scatter. The root's own block is copied; in place, it lies where it belongs.
#include "core/coll/apart.hpp"
#include "core/coll/forms.hpp"

namespace zipmpi::core {

namespace coll = proto::coll;

namespace {

std::byte* writable(const std::byte* p) { return const_cast<std::byte*>(p); } // where a Block is only read

// Equal blocks side by side, one per rank.
coll::Blocks side_by_side(Plan& p, const std::byte* base, size_t block, int n) {
    coll::Block* list = p.blocks(n);
    if (list == nullptr) return {};
    for (int i = 0; i < n; ++i) list[i] = {writable(base) + static_cast<size_t>(i) * block, block};
    return {list, static_cast<size_t>(n)};
}

void gather_inter(Plan& p, const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount,
                  Datatype* rtype, const coll::InterRoot& root) {
    coll::Block mine;
    coll::Blocks all;
    const int n = p.team().size;
    if (root.part == coll::Part::root)
        all = side_by_side(p, p.incoming(rbuf, rcount * n, *rtype), wire_bytes(rcount, *rtype), n);
    else if (root.part == coll::Part::other_side)
        mine = {writable(p.outgoing(sbuf, scount, *stype)), wire_bytes(scount, *stype)};
    if (p.schedule().state() == Err::success) coll::gatherv(p.schedule(), p.inter(), mine, all, root);
}

void scatter_inter(Plan& p, const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount,
                   Datatype* rtype, const coll::InterRoot& root) {
    coll::Block mine;
    coll::Blocks all;
    const int n = p.team().size;
    if (root.part == coll::Part::root)
        all = side_by_side(p, p.outgoing(sbuf, scount * n, *stype), wire_bytes(scount, *stype), n);
    else if (root.part == coll::Part::other_side)
        mine = {p.incoming(rbuf, rcount, *rtype), wire_bytes(rcount, *rtype)};
    if (p.schedule().state() == Err::success) coll::scatterv(p.schedule(), p.inter(), all, mine, root);
}

} // namespace

Err gather(const Form& form, const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount,
           Datatype* rtype, int root, Comm& comm) {
    if (!comm.inter() && comm.team.rank == root)
        if (const Err e = check_apart(ElementRange{sbuf, scount, stype},
                                      ElementRange{rbuf, rcount, rtype, root * rcount});
            e != Err::success)
            return e;
    return collective(form, comm, [&](Plan& p) {
        if (comm.inter()) return gather_inter(p, sbuf, scount, stype, rbuf, rcount, rtype, inter_root(root));
        if (comm.team.rank != root) {
            const std::byte* mine = p.outgoing(sbuf, scount, *stype);
            return coll::gather(p.schedule(), p.team(), mine, nullptr, wire_bytes(scount, *stype), root);
        }
        const size_t block = wire_bytes(rcount, *rtype);
        const int64_t total = rcount * comm.team.size;
        std::byte* all = nullptr;
        if (sbuf == in_place) {
            all = p.in_and_out(rbuf, total, *rtype);
        } else {
            all = p.incoming(rbuf, total, *rtype);
            p.schedule().copy(all + static_cast<size_t>(root) * block, p.outgoing(sbuf, scount, *stype),
                              wire_bytes(scount, *stype));
        }
        coll::gather(p.schedule(), p.team(), nullptr, all, block, root);
    });
}

Err scatter(const Form& form, const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount,
            Datatype* rtype, int root, Comm& comm) {
    if (!comm.inter() && comm.team.rank == root)
        if (const Err e = check_apart(ElementRange{sbuf, scount, stype, root * scount},
                                      ElementRange{rbuf, rcount, rtype});
            e != Err::success)
            return e;
    return collective(form, comm, [&](Plan& p) {
        if (comm.inter()) return scatter_inter(p, sbuf, scount, stype, rbuf, rcount, rtype, inter_root(root));
        if (comm.team.rank != root) {
            std::byte* mine = p.incoming(rbuf, rcount, *rtype);
            return coll::scatter(p.schedule(), p.team(), nullptr, mine, wire_bytes(rcount, *rtype), root);
        }
        const size_t block = wire_bytes(scount, *stype);
        const std::byte* all = p.outgoing(sbuf, scount * comm.team.size, *stype);
        if (rbuf != in_place)
            p.schedule().copy(p.incoming(rbuf, rcount, *rtype), all + static_cast<size_t>(root) * block,
                              wire_bytes(rcount, *rtype));
        coll::scatter(p.schedule(), p.team(), all, nullptr, block, root);
    });
}

Err gatherv(const Form& form, const void* sbuf, int64_t scount, Datatype* stype, void* rbuf,
            CountArray rcounts, CountArray displs, Datatype* rtype, int root, Comm& comm) {
    if (!comm.inter() && comm.team.rank == root)
        if (const Err e = check_apart(ElementRange{sbuf, scount, stype},
                                      ElementRange{rbuf, rcounts[root], rtype, displs[root]});
            e != Err::success)
            return e;
    return collective(form, comm, [&](Plan& p) {
        const bool at_root = comm.inter() ? root == root_here : root == comm.team.rank;
        coll::Block mine;
        coll::Blocks all;
        const bool gives = comm.inter() ? root >= 0 : sbuf != in_place;
        if (at_root) all = p.incoming(rbuf, rcounts, displs, *rtype, comm.team.size, gives ? -1 : root);
        if (gives) mine = {writable(p.outgoing(sbuf, scount, *stype)), wire_bytes(scount, *stype)};
        if (p.schedule().state() != Err::success) return;
        if (comm.inter()) return coll::gatherv(p.schedule(), p.inter(), mine, all, inter_root(root));
        if (at_root && gives) p.schedule().copy(all[static_cast<size_t>(root)].data, mine.data, mine.bytes);
        coll::gatherv(p.schedule(), p.team(), mine, all, root);
    });
}

Err scatterv(const Form& form, const void* sbuf, CountArray scounts, CountArray displs, Datatype* stype,
             void* rbuf, int64_t rcount, Datatype* rtype, int root, Comm& comm) {
    if (!comm.inter() && comm.team.rank == root)
        if (const Err e = check_apart(ElementRange{sbuf, scounts[root], stype, displs[root]},
                                      ElementRange{rbuf, rcount, rtype});
            e != Err::success)
            return e;
    return collective(form, comm, [&](Plan& p) {
        const bool at_root = comm.inter() ? root == root_here : root == comm.team.rank;
        coll::Block mine;
        coll::Blocks all;
        if (at_root) all = p.outgoing(sbuf, scounts, displs, *stype, comm.team.size);
        const bool gets = comm.inter() ? root >= 0 : rbuf != in_place;
        if (gets) mine = {p.incoming(rbuf, rcount, *rtype), wire_bytes(rcount, *rtype)};
        if (p.schedule().state() != Err::success) return;
        if (comm.inter()) return coll::scatterv(p.schedule(), p.inter(), all, mine, inter_root(root));
        if (at_root && gets) p.schedule().copy(mine.data, all[static_cast<size_t>(root)].data, mine.bytes);
        coll::scatterv(p.schedule(), p.team(), all, mine, root);
    });
}

} // namespace zipmpi::core
