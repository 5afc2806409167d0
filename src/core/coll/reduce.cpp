// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reductions. In place, the contribution is in the buffer of the result.
#include "core/coll/apart.hpp"
#include "core/coll/forms.hpp"

#include <algorithm>

namespace zipmpi::core {

namespace coll = proto::coll;

namespace {

// What every reduction with a result on each rank does.
struct Operands {
    const std::byte* mine;
    std::byte* result;
};
Operands operands(Plan& p, const void* sbuf, int64_t given, void* rbuf, int64_t wanted, Datatype& type) {
    if (sbuf != in_place) return {p.operands_in(sbuf, given, type), p.operands_out(rbuf, wanted, type)};
    std::byte* both = p.operands_in_and_out(rbuf, std::max(given, wanted), type);
    return {both, both};
}

} // namespace

Err reduce(const Form& form, const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, int root,
           Comm& comm) {
    if (!comm.inter() && comm.team.rank == root)
        if (const Err e = check_apart(sbuf, rbuf, count, type); e != Err::success) return e;
    return collective(form, comm, [&](Plan& p) {
        if (root == proc_null) return;
        p.reduce_with(op, type, count);
        const bool at_root = comm.inter() ? root == root_here : root == comm.team.rank;
        const bool kept = at_root && sbuf == in_place;
        const bool gives = comm.inter() ? !at_root : !kept;
        std::byte* result = nullptr;
        if (at_root)
            result = kept ? p.operands_in_and_out(rbuf, count, type) : p.operands_out(rbuf, count, type);
        const std::byte* mine = gives ? p.operands_in(sbuf, count, type) : result;
        if (comm.inter())
            coll::reduce(p.schedule(), p.inter(), mine, result, inter_root(root));
        else
            coll::reduce(p.schedule(), p.team(), mine, result, root);
    });
}

Err allreduce(const Form& form, const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op,
              Comm& comm) {
    if (const Err e = check_apart(sbuf, rbuf, count, type); e != Err::success) return e;
    return collective(form, comm, [&](Plan& p) {
        p.reduce_with(op, type, count);
        const Operands o = operands(p, sbuf, count, rbuf, count, type);
        if (comm.inter())
            coll::allreduce(p.schedule(), p.inter(), o.mine, o.result);
        else
            coll::allreduce(p.schedule(), p.team(), o.mine, o.result);
    });
}

Err scan(const Form& form, const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm) {
    if (const Err e = check_apart(sbuf, rbuf, count, type); e != Err::success) return e;
    if (comm.inter()) return not_between_groups("MPI_Scan");
    return collective(form, comm, [&](Plan& p) {
        p.reduce_with(op, type, count);
        const Operands o = operands(p, sbuf, count, rbuf, count, type);
        coll::scan(p.schedule(), p.team(), o.mine, o.result);
    });
}

Err exscan(const Form& form, const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op,
           Comm& comm) {
    if (const Err e = check_apart(sbuf, rbuf, count, type); e != Err::success) return e;
    if (comm.inter()) return not_between_groups("MPI_Exscan");
    return collective(form, comm, [&](Plan& p) {
        p.reduce_with(op, type, count);
        // rank 0 gets nothing: its result stays as it is
        const bool first = comm.team.rank == 0;
        Operands o{};
        if (!first)
            o = operands(p, sbuf, count, rbuf, count, type);
        else
            o.mine = p.operands_in(sbuf == in_place ? rbuf : sbuf, count, type);
        coll::exscan(p.schedule(), p.team(), o.mine, o.result);
    });
}

Err reduce_scatter(const Form& form, const void* sbuf, void* rbuf, CountArray rcounts, Datatype& type, Op& op,
                   Comm& comm) {
    const int n = comm.inter() ? comm.local->size : comm.team.size;
    if (const Err e = check_counts(rcounts, n); e != Err::success) return e;
    if (const Err e = check_apart(sbuf, rbuf, rcounts[comm.team.rank], type); e != Err::success) return e;
    return collective(form, comm, [&](Plan& p) {
        auto* counts =
            reinterpret_cast<int64_t*>(p.schedule().scratch(static_cast<size_t>(n) * sizeof(int64_t)));
        if (counts == nullptr) return;
        int64_t total = 0;
        for (int r = 0; r < n; ++r) total += counts[r] = rcounts[r];
        p.reduce_with(op, type, total);
        const Operands o = operands(p, sbuf, total, rbuf, counts[comm.team.rank], type);
        const std::span<const int64_t> parts(counts, static_cast<size_t>(n));
        if (comm.inter())
            coll::reduce_scatter(p.schedule(), p.inter(), o.mine, o.result, parts);
        else
            coll::reduce_scatter(p.schedule(), p.team(), o.mine, o.result, parts);
    });
}

Err reduce_scatter_block(const Form& form, const void* sbuf, void* rbuf, int64_t rcount, Datatype& type,
                         Op& op, Comm& comm) {
    if (const Err e = check_apart(sbuf, rbuf, rcount, type); e != Err::success) return e;
    const int n = comm.inter() ? comm.local->size : comm.team.size;
    return collective(form, comm, [&](Plan& p) {
        p.reduce_with(op, type, rcount * n);
        const Operands o = operands(p, sbuf, rcount * n, rbuf, rcount, type);
        if (!comm.inter())
            return coll::reduce_scatter_block(p.schedule(), p.team(), o.mine, o.result, rcount);
        auto* counts =
            reinterpret_cast<int64_t*>(p.schedule().scratch(static_cast<size_t>(n) * sizeof(int64_t)));
        if (counts == nullptr) return;
        std::fill_n(counts, n, rcount);
        coll::reduce_scatter(p.schedule(), p.inter(), o.mine, o.result, {counts, static_cast<size_t>(n)});
    });
}

} // namespace zipmpi::core
