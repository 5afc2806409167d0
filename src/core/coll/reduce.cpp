// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reductions. In place, the contribution is in the receive buffer.
#include "core/api/coll.hpp"
#include "core/coll/alias_check.hpp"
#include "core/coll/builder.hpp"

#include <algorithm>

namespace zipmpi::core {

namespace coll = proto::coll;

namespace {

// Operands of a reduction with a result on every rank.
struct Operands {
    const std::byte* input;
    std::byte* result;
};
Operands make_operands(CollectiveBuilder& p, const void* sbuf, int64_t input_count, void* rbuf,
                       int64_t wanted, Datatype& type) {
    if (sbuf != in_place) return {p.operands_in(sbuf, input_count, type), p.operands_out(rbuf, wanted, type)};
    std::byte* both = p.operands_in_and_out(rbuf, std::max(input_count, wanted), type);
    return {both, both};
}

} // namespace

Err reduce(const CallForm& form, const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op,
           int root, Comm& comm) {
    if (!comm.inter() && comm.team.rank == root)
        if (const Err e = check_no_alias(sbuf, rbuf, count, type); e != Err::success) return e;
    return collective(form, comm, [&](CollectiveBuilder& p) {
        if (root == proc_null) return;
        p.reduce_with(op, type, count);
        const bool at_root = comm.inter() ? root == root_here : root == comm.team.rank;
        const bool is_in_place = at_root && sbuf == in_place;
        const bool contributes = comm.inter() ? !at_root : !is_in_place;
        std::byte* result = nullptr;
        if (at_root)
            result =
                is_in_place ? p.operands_in_and_out(rbuf, count, type) : p.operands_out(rbuf, count, type);
        const std::byte* input = contributes ? p.operands_in(sbuf, count, type) : result;
        if (comm.inter())
            coll::reduce(p.schedule(), p.inter(), input, result, inter_root(root));
        else
            coll::reduce(p.collective(), p.team(), input, result, root);
    });
}

Err allreduce(const CallForm& form, const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op,
              Comm& comm) {
    if (const Err e = check_no_alias(sbuf, rbuf, count, type); e != Err::success) return e;
    return collective(form, comm, [&](CollectiveBuilder& p) {
        p.reduce_with(op, type, count);
        const Operands o = make_operands(p, sbuf, count, rbuf, count, type);
        if (comm.inter())
            coll::allreduce(p.schedule(), p.inter(), o.input, o.result);
        else
            coll::allreduce(p.collective(), p.team(), o.input, o.result);
    });
}

Err scan(const CallForm& form, const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op,
         Comm& comm) {
    if (const Err e = check_no_alias(sbuf, rbuf, count, type); e != Err::success) return e;
    if (comm.inter()) return intracomm_only("MPI_Scan");
    return collective(form, comm, [&](CollectiveBuilder& p) {
        p.reduce_with(op, type, count);
        const Operands o = make_operands(p, sbuf, count, rbuf, count, type);
        coll::scan(p.collective(), p.team(), o.input, o.result);
    });
}

Err exscan(const CallForm& form, const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op,
           Comm& comm) {
    if (const Err e = check_no_alias(sbuf, rbuf, count, type); e != Err::success) return e;
    if (comm.inter()) return intracomm_only("MPI_Exscan");
    return collective(form, comm, [&](CollectiveBuilder& p) {
        p.reduce_with(op, type, count);
        // the receive buffer of rank 0 is unchanged
        const bool first = comm.team.rank == 0;
        Operands o{};
        if (!first)
            o = make_operands(p, sbuf, count, rbuf, count, type);
        else
            o.input = p.operands_in(sbuf == in_place ? rbuf : sbuf, count, type);
        coll::exscan(p.collective(), p.team(), o.input, o.result);
    });
}

Err reduce_scatter(const CallForm& form, const void* sbuf, void* rbuf, CountArray rcounts, Datatype& type,
                   Op& op, Comm& comm) {
    const int n = comm.inter() ? comm.local->size : comm.team.size;
    if (const Err e = check_counts(rcounts, n); e != Err::success) return e;
    if (const Err e = check_no_alias(sbuf, rbuf, rcounts[comm.team.rank], type); e != Err::success) return e;
    return collective(form, comm, [&](CollectiveBuilder& p) {
        auto* counts =
            reinterpret_cast<int64_t*>(p.schedule().scratch(static_cast<size_t>(n) * sizeof(int64_t)));
        if (counts == nullptr) return;
        int64_t total = 0;
        for (int r = 0; r < n; ++r) total += counts[r] = rcounts[r];
        p.reduce_with(op, type, total);
        const Operands o = make_operands(p, sbuf, total, rbuf, counts[comm.team.rank], type);
        const std::span<const int64_t> block_counts(counts, static_cast<size_t>(n));
        if (comm.inter())
            coll::reduce_scatter(p.schedule(), p.inter(), o.input, o.result, block_counts);
        else
            coll::reduce_scatter(p.collective(), p.team(), o.input, o.result, block_counts);
    });
}

Err reduce_scatter_block(const CallForm& form, const void* sbuf, void* rbuf, int64_t rcount, Datatype& type,
                         Op& op, Comm& comm) {
    if (const Err e = check_no_alias(sbuf, rbuf, rcount, type); e != Err::success) return e;
    const int n = comm.inter() ? comm.local->size : comm.team.size;
    return collective(form, comm, [&](CollectiveBuilder& p) {
        p.reduce_with(op, type, rcount * n);
        const Operands o = make_operands(p, sbuf, rcount * n, rbuf, rcount, type);
        if (!comm.inter())
            return coll::reduce_scatter_block(p.collective(), p.team(), o.input, o.result, rcount);
        auto* counts =
            reinterpret_cast<int64_t*>(p.schedule().scratch(static_cast<size_t>(n) * sizeof(int64_t)));
        if (counts == nullptr) return;
        std::fill_n(counts, n, rcount);
        coll::reduce_scatter(p.schedule(), p.inter(), o.input, o.result, {counts, static_cast<size_t>(n)});
    });
}

} // namespace zipmpi::core
