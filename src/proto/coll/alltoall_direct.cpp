// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// All-to-all straight between all pairs, a number of partners at a time: with the ones k ahead and k behind.
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
                      "partners that a rank exchanges messages with at a time in MPI_Alltoall and its kin"};

} // namespace

double cost(const Shape& shape, const Constants& c) {
    return (shape.ranks - 1) * (c.message + static_cast<double>(shape.bytes) * c.byte);
}

// An exchange of nothing needs no message: both sides know.
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
    s.copy(recv[own].data, send[own].data, recv[own].bytes); // partners find what is there for them meanwhile
}

} // namespace zipmpi::proto::coll::alltoall_direct
