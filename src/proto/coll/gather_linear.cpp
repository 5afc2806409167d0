// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Gather and scatter by direct messages between the root and each rank.
#include "proto/coll/algorithms.hpp"

namespace zipmpi::proto::coll::gather_linear {

double cost(const CollShape& shape, const CostModel& c) {
    return (shape.ranks - 1) * (c.message + static_cast<double>(shape.bytes) * c.byte);
}

void gather(Schedule& s, Team& t, Block input, Blocks all, int root) {
    if (t.rank != root) {
        s.send(t, input.data, input.bytes, root);
        return;
    }
    for (int r = 0; r < t.size; ++r)
        if (r != root) s.recv(t, all[static_cast<size_t>(r)].data, all[static_cast<size_t>(r)].bytes, r);
}

void scatter(Schedule& s, Team& t, Blocks all, Block output, int root) {
    if (t.rank != root) {
        s.recv(t, output.data, output.bytes, root);
        return;
    }
    for (int r = 0; r < t.size; ++r)
        if (r != root) s.send(t, all[static_cast<size_t>(r)].data, all[static_cast<size_t>(r)].bytes, r);
}

} // namespace zipmpi::proto::coll::gather_linear
