// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reduce-scatter by direct messages: every rank receives its block from all others and combines from the last
// rank to the first. Cost (p - 1) a + n b + n c, with n bytes in the whole vector.
#include "proto/coll/algorithms.hpp"

namespace zipmpi::proto::coll::reduce_scatter_direct {

void build(Schedule& s, Team& t, const void* input, void* result, std::span<const int64_t> counts) {
    const ReduceOp& op = s.op();
    const int64_t own_count = counts[static_cast<size_t>(t.rank)];
    const size_t own_bytes = static_cast<size_t>(own_count) * op.element_bytes;
    std::byte* inputs = s.scratch(own_bytes * static_cast<size_t>(t.size));
    if (inputs == nullptr) return;
    const auto input_of = [&](int r) { return at(inputs, static_cast<size_t>(r) * own_bytes); };
    size_t offset = 0;
    for (int r = 0; r < t.size; ++r) {
        const size_t bytes = static_cast<size_t>(counts[static_cast<size_t>(r)]) * op.element_bytes;
        if (r == t.rank) {
            s.copy(input_of(r), at(input, offset), bytes);
        } else {
            if (own_bytes != 0) s.recv(t, input_of(r), own_bytes, r);
            if (bytes != 0) s.send(t, at(input, offset), bytes, r);
        }
        offset += bytes;
    }
    s.wait();
    for (int r = t.size - 2; r >= 0; --r) s.combine(input_of(r), input_of(t.size - 1), own_count);
    s.copy(result, input_of(t.size - 1), own_bytes);
}

} // namespace zipmpi::proto::coll::reduce_scatter_direct
