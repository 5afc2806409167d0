// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// All-to-all by direct messages between all pairs, coll.alltoall_window partners at a time: step k sends to
// the rank k ahead and receives from the rank k behind.
#include "base/param.hpp"
#include "proto/coll/algorithms.hpp"

namespace zipmpi::proto::coll::alltoall_direct {
namespace {

Param<int64_t> window{"coll.alltoall_window",
                      32,
                      {1, INT32_MAX},
                      Unit::none,
                      Level::tuner,
                      Scope::local,
                      "concurrent partners per rank in MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw"};

} // namespace

double cost(const CollShape& shape, const CostModel& c) {
    return (shape.ranks - 1) * (c.message + static_cast<double>(shape.bytes) * c.byte);
}

// Empty blocks need no message: both sides pass the size.
void build(Schedule& s, Team& t, Blocks send, Blocks recv) {
    for (int k = 1; k < t.size; ++k) {
        const int to = (t.rank + k) % t.size;
        const int from = (t.rank - k + t.size) % t.size;
        const Block& in = recv[static_cast<size_t>(from)];
        const Block& out = send[static_cast<size_t>(to)];
        if (in.bytes != 0) s.recv(t, in.data, in.bytes, from);
        if (out.bytes != 0) s.send(t, out.data, out.bytes, to);
        if (k % window.get() == 0) s.wait();
    }
    const auto own = static_cast<size_t>(t.rank);
    s.copy(recv[own].data, send[own].data, recv[own].bytes); // last, so that it overlaps with the messages
}

} // namespace zipmpi::proto::coll::alltoall_direct
