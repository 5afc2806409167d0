// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Allgather.
#include "core/api/coll.hpp"
#include "core/coll/alias_check.hpp"
#include "core/coll/builder.hpp"

namespace zipmpi::core {

namespace coll = proto::coll;

Err allgather(const CallForm& form, const void* sbuf, int64_t scount, Datatype* stype, void* rbuf,
              int64_t rcount, Datatype& rtype, Comm& comm) {
    if (!comm.inter())
        if (const Err e = check_no_alias(ElementRange{sbuf, scount, stype},
                                         ElementRange{rbuf, rcount, &rtype, comm.team.rank * rcount});
            e != Err::success)
            return e;
    return collective(form, comm, [&](CollectiveBuilder& p) {
        const size_t block = wire_bytes(rcount, rtype);
        const int64_t total = rcount * comm.team.size;
        const size_t own_offset = static_cast<size_t>(comm.team.rank) * block;
        if (sbuf == in_place) {
            std::byte* both = p.in_and_out(rbuf, total, rtype);
            return coll::allgather(p.collective(), p.team(), both + own_offset, both, block);
        }
        const std::byte* input = p.outgoing(sbuf, scount, *stype);
        std::byte* all = p.incoming(rbuf, total, rtype);
        if (comm.inter()) {
            coll::Block* blocks = p.blocks(comm.team.size);
            for (int r = 0; blocks != nullptr && r < comm.team.size; ++r)
                blocks[r] = {all + static_cast<size_t>(r) * block, block};
            const coll::Block own_block{const_cast<std::byte*>(input), wire_bytes(scount, *stype)};
            if (blocks != nullptr)
                coll::allgatherv(p.schedule(), p.inter(), own_block,
                                 {blocks, static_cast<size_t>(comm.team.size)});
            return;
        }
        coll::allgather(p.collective(), p.team(), input, all, block);
    });
}

Err allgatherv(const CallForm& form, const void* sbuf, int64_t scount, Datatype* stype, void* rbuf,
               CountArray rcounts, CountArray displs, Datatype& rtype, Comm& comm) {
    if (!comm.inter())
        if (const Err e =
                check_no_alias(ElementRange{sbuf, scount, stype},
                               ElementRange{rbuf, rcounts[comm.team.rank], &rtype, displs[comm.team.rank]});
            e != Err::success)
            return e;
    return collective(form, comm, [&](CollectiveBuilder& p) {
        const int rank = comm.team.rank;
        const bool is_in_place = sbuf == in_place;
        coll::Block input;
        if (!is_in_place)
            input = {const_cast<std::byte*>(p.outgoing(sbuf, scount, *stype)), wire_bytes(scount, *stype)};
        const coll::Blocks all =
            p.incoming(rbuf, rcounts, displs, rtype, comm.team.size, is_in_place ? rank : -1);
        if (p.schedule().state() != Err::success) return;
        if (comm.inter()) return coll::allgatherv(p.schedule(), p.inter(), input, all);
        if (!is_in_place) p.schedule().copy(all[static_cast<size_t>(rank)].data, input.data, input.bytes);
        coll::allgatherv(p.collective(), p.team(), all);
    });
}

} // namespace zipmpi::core
