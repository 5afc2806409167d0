// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Gather and scatter. The root copies its own block unless it is in place.
#include "core/api/coll.hpp"
#include "core/coll/alias_check.hpp"
#include "core/coll/builder.hpp"

namespace zipmpi::core {

namespace coll = proto::coll;

namespace {

std::byte* writable(const std::byte* p) { return const_cast<std::byte*>(p); } // for Blocks that are only read

// Contiguous blocks of equal size, one per rank.
coll::Blocks contiguous_blocks(CollectiveBuilder& p, const std::byte* base, size_t block, int n) {
    coll::Block* list = p.blocks(n);
    if (list == nullptr) return {};
    for (int i = 0; i < n; ++i) list[i] = {writable(base) + static_cast<size_t>(i) * block, block};
    return {list, static_cast<size_t>(n)};
}

void gather_inter(CollectiveBuilder& p, const void* sbuf, int64_t scount, Datatype* stype, void* rbuf,
                  int64_t rcount, Datatype* rtype, const coll::InterRoot& root) {
    coll::Block own_block;
    coll::Blocks all;
    const int n = p.team().size;
    if (root.role == coll::RootRole::root)
        all = contiguous_blocks(p, p.incoming(rbuf, rcount * n, *rtype), wire_bytes(rcount, *rtype), n);
    else if (root.role == coll::RootRole::remote)
        own_block = {writable(p.outgoing(sbuf, scount, *stype)), wire_bytes(scount, *stype)};
    if (p.schedule().state() == Err::success) coll::gatherv(p.schedule(), p.inter(), own_block, all, root);
}

void scatter_inter(CollectiveBuilder& p, const void* sbuf, int64_t scount, Datatype* stype, void* rbuf,
                   int64_t rcount, Datatype* rtype, const coll::InterRoot& root) {
    coll::Block own_block;
    coll::Blocks all;
    const int n = p.team().size;
    if (root.role == coll::RootRole::root)
        all = contiguous_blocks(p, p.outgoing(sbuf, scount * n, *stype), wire_bytes(scount, *stype), n);
    else if (root.role == coll::RootRole::remote)
        own_block = {p.incoming(rbuf, rcount, *rtype), wire_bytes(rcount, *rtype)};
    if (p.schedule().state() == Err::success) coll::scatterv(p.schedule(), p.inter(), all, own_block, root);
}

} // namespace

Err gather(const CallForm& form, const void* sbuf, int64_t scount, Datatype* stype, void* rbuf,
           int64_t rcount, Datatype* rtype, int root, Comm& comm) {
    if (!comm.inter() && comm.team.rank == root)
        if (const Err e = check_no_alias(ElementRange{sbuf, scount, stype},
                                         ElementRange{rbuf, rcount, rtype, root * rcount});
            e != Err::success)
            return e;
    return collective(form, comm, [&](CollectiveBuilder& p) {
        if (comm.inter()) return gather_inter(p, sbuf, scount, stype, rbuf, rcount, rtype, inter_root(root));
        if (comm.team.rank != root) {
            const std::byte* input = p.outgoing(sbuf, scount, *stype);
            return coll::gather(p.collective(), p.team(), input, nullptr, wire_bytes(scount, *stype), root);
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
        coll::gather(p.collective(), p.team(), nullptr, all, block, root);
    });
}

Err scatter(const CallForm& form, const void* sbuf, int64_t scount, Datatype* stype, void* rbuf,
            int64_t rcount, Datatype* rtype, int root, Comm& comm) {
    if (!comm.inter() && comm.team.rank == root)
        if (const Err e = check_no_alias(ElementRange{sbuf, scount, stype, root * scount},
                                         ElementRange{rbuf, rcount, rtype});
            e != Err::success)
            return e;
    return collective(form, comm, [&](CollectiveBuilder& p) {
        if (comm.inter()) return scatter_inter(p, sbuf, scount, stype, rbuf, rcount, rtype, inter_root(root));
        if (comm.team.rank != root) {
            std::byte* output = p.incoming(rbuf, rcount, *rtype);
            return coll::scatter(p.collective(), p.team(), nullptr, output, wire_bytes(rcount, *rtype), root);
        }
        const size_t block = wire_bytes(scount, *stype);
        const std::byte* all = p.outgoing(sbuf, scount * comm.team.size, *stype);
        if (rbuf != in_place)
            p.schedule().copy(p.incoming(rbuf, rcount, *rtype), all + static_cast<size_t>(root) * block,
                              wire_bytes(rcount, *rtype));
        coll::scatter(p.collective(), p.team(), all, nullptr, block, root);
    });
}

Err gatherv(const CallForm& form, const void* sbuf, int64_t scount, Datatype* stype, void* rbuf,
            CountArray rcounts, CountArray displs, Datatype* rtype, int root, Comm& comm) {
    if (!comm.inter() && comm.team.rank == root)
        if (const Err e = check_no_alias(ElementRange{sbuf, scount, stype},
                                         ElementRange{rbuf, rcounts[root], rtype, displs[root]});
            e != Err::success)
            return e;
    return collective(form, comm, [&](CollectiveBuilder& p) {
        const bool at_root = comm.inter() ? root == root_here : root == comm.team.rank;
        coll::Block own_block;
        coll::Blocks all;
        const bool contributes = comm.inter() ? root >= 0 : sbuf != in_place;
        if (at_root) all = p.incoming(rbuf, rcounts, displs, *rtype, comm.team.size, contributes ? -1 : root);
        if (contributes) own_block = {writable(p.outgoing(sbuf, scount, *stype)), wire_bytes(scount, *stype)};
        if (p.schedule().state() != Err::success) return;
        if (comm.inter()) return coll::gatherv(p.schedule(), p.inter(), own_block, all, inter_root(root));
        if (at_root && contributes)
            p.schedule().copy(all[static_cast<size_t>(root)].data, own_block.data, own_block.bytes);
        coll::gatherv(p.collective(), p.team(), own_block, all, root);
    });
}

Err scatterv(const CallForm& form, const void* sbuf, CountArray scounts, CountArray displs, Datatype* stype,
             void* rbuf, int64_t rcount, Datatype* rtype, int root, Comm& comm) {
    if (!comm.inter() && comm.team.rank == root)
        if (const Err e = check_no_alias(ElementRange{sbuf, scounts[root], stype, displs[root]},
                                         ElementRange{rbuf, rcount, rtype});
            e != Err::success)
            return e;
    return collective(form, comm, [&](CollectiveBuilder& p) {
        const bool at_root = comm.inter() ? root == root_here : root == comm.team.rank;
        coll::Block own_block;
        coll::Blocks all;
        if (at_root) all = p.outgoing(sbuf, scounts, displs, *stype, comm.team.size);
        const bool receives = comm.inter() ? root >= 0 : rbuf != in_place;
        if (receives) own_block = {p.incoming(rbuf, rcount, *rtype), wire_bytes(rcount, *rtype)};
        if (p.schedule().state() != Err::success) return;
        if (comm.inter()) return coll::scatterv(p.schedule(), p.inter(), all, own_block, inter_root(root));
        if (at_root && receives)
            p.schedule().copy(own_block.data, all[static_cast<size_t>(root)].data, own_block.bytes);
        coll::scatterv(p.collective(), p.team(), all, own_block, root);
    });
}

} // namespace zipmpi::core
