// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/count_mismatch.hpp"

namespace zipmpi::proto {

Err count_mismatch(Err code, int rank, uint64_t sent, uint64_t expected) {
    return fail(code,
                "call the same collective with the same count and datatype on all ranks of the communicator",
                "rank %d has sent %llu bytes in this collective, this rank expects %llu", rank,
                static_cast<unsigned long long>(sent), static_cast<unsigned long long>(expected));
}

} // namespace zipmpi::proto
