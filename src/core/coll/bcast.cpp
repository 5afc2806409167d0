// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Barrier and broadcast.
#include "core/api/coll.hpp"
#include "core/coll/builder.hpp"

namespace zipmpi::core {

namespace coll = proto::coll;

Err barrier(const CallForm& form, Comm& comm) {
    return collective(form, comm, [&](CollectiveBuilder& p) {
        p.set_role(CollectiveRole::barrier);
        comm.inter() ? coll::barrier(p.schedule(), p.inter()) : coll::barrier(p.collective(), p.team());
    });
}

Err bcast(const CallForm& form, void* buf, int64_t count, Datatype& type, int root, Comm& comm) {
    return collective(form, comm, [&](CollectiveBuilder& p) {
        if (root == proc_null) return;
        const bool sends = comm.inter() ? root == root_here : root == comm.team.rank;
        std::byte* data =
            sends ? const_cast<std::byte*>(p.outgoing(buf, count, type)) : p.incoming(buf, count, type);
        const size_t bytes = wire_bytes(count, type);
        if (comm.inter())
            coll::broadcast(p.schedule(), p.inter(), data, bytes, inter_root(root));
        else
            coll::broadcast(p.collective(), p.team(), data, bytes, root);
    });
}

} // namespace zipmpi::core
