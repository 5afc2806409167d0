// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/coll/shm/coll_signature.hpp"

#include "proto/count_mismatch.hpp"

namespace zipmpi::proto::coll {

Err SignatureCheck::mismatch_error(int rank) const {
    const uint32_t sent = mismatched_ & CollSignature::max_bytes;
    const uint32_t expected = own_ & CollSignature::max_bytes;
    if (sent == expected)
        return fail(
            Err::not_same,
            "call the same collective with the same count and datatype on all ranks of the communicator",
            "rank %d called a different collective or passed a different root", rank);
    return count_mismatch(sent > expected ? Err::truncate : Err::not_same, rank, sent, expected);
}

} // namespace zipmpi::proto::coll
