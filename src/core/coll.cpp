// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Collective calls: resolves in place, turns counts into bytes, and picks the kernel of a reduction.
#include "proto/coll/coll.hpp"
#include "core/api.hpp"
#include "core/comm/comm.hpp"
#include "core/datatype/datatype.hpp"
#include "core/op/op.hpp"
#include "proto/coll/steps.hpp"

#include <cstring>

namespace zipmpi::core {
namespace {

namespace coll = proto::coll;

size_t block_of(int64_t count, const Datatype& type) { return static_cast<size_t>(count * type.extent); }

Err combine_of(const Op& op, const Datatype& type, int64_t count, coll::Combine& combine) {
    combine = {kernel_of(op.id, type.id), count, static_cast<size_t>(type.extent)};
    if (combine.apply != nullptr) return Err::success;
    return fail(Err::op, "use an operation that the standard defines for this datatype",
                "%s is not defined for %s", op.name, type.name);
}

void copy(void* to, const void* from, size_t bytes) {
    if (bytes != 0 && to != from) std::memcpy(to, from, bytes);
}

std::byte* block_at(void* base, size_t block, int rank) {
    return static_cast<std::byte*>(base) + block * static_cast<size_t>(rank);
}

} // namespace

Err barrier(Comm& comm) { return coll::barrier(comm.team); }

Err bcast(void* buf, int64_t count, Datatype& type, int root, Comm& comm) {
    return coll::broadcast(comm.team, buf, block_of(count, type), root);
}

Err reduce(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, int root, Comm& comm) {
    coll::Combine combine;
    if (const Err e = combine_of(op, type, count, combine); e != Err::success) return e;
    if (comm.team.rank == root) {
        if (sbuf != in_place) copy(rbuf, sbuf, combine.bytes());
        return coll::reduce(comm.team, rbuf, combine, root);
    }
    const coll::Scratch partial = coll::make_scratch(combine.bytes());
    if (!partial) return coll::no_scratch(combine.bytes());
    copy(partial.get(), sbuf, combine.bytes());
    return coll::reduce(comm.team, partial.get(), combine, root);
}

Err allreduce(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm) {
    coll::Combine combine;
    if (const Err e = combine_of(op, type, count, combine); e != Err::success) return e;
    if (sbuf != in_place) copy(rbuf, sbuf, combine.bytes());
    return coll::allreduce(comm.team, rbuf, combine);
}

Err gather(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount, Datatype* rtype,
           int root, Comm& comm) {
    const bool at_root = comm.team.rank == root;
    const size_t block = at_root ? block_of(rcount, *rtype) : block_of(scount, *stype);
    if (at_root && sbuf != in_place) copy(block_at(rbuf, block, root), sbuf, block_of(scount, *stype));
    return coll::gather(comm.team, sbuf, rbuf, block, root);
}

Err scatter(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount, Datatype* rtype,
            int root, Comm& comm) {
    const bool at_root = comm.team.rank == root;
    const size_t block = at_root ? block_of(scount, *stype) : block_of(rcount, *rtype);
    if (at_root && rbuf != in_place)
        copy(rbuf, block_at(const_cast<void*>(sbuf), block, root), block_of(rcount, *rtype));
    return coll::scatter(comm.team, sbuf, rbuf, block, root);
}

Err allgather(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount, Datatype& rtype,
              Comm& comm) {
    const size_t block = block_of(rcount, rtype);
    if (sbuf != in_place) copy(block_at(rbuf, block, comm.team.rank), sbuf, block_of(scount, *stype));
    return coll::allgather(comm.team, rbuf, block);
}

Err alltoall(const void* sbuf, int64_t, Datatype*, void* rbuf, int64_t rcount, Datatype& rtype, Comm& comm) {
    const size_t block = block_of(rcount, rtype);
    if (sbuf != in_place) return coll::alltoall(comm.team, sbuf, rbuf, block);
    const size_t bytes = block * static_cast<size_t>(comm.team.size);
    const coll::Scratch send = coll::make_scratch(bytes);
    if (!send) return coll::no_scratch(bytes);
    copy(send.get(), rbuf, bytes);
    return coll::alltoall(comm.team, send.get(), rbuf, block);
}

} // namespace zipmpi::core
