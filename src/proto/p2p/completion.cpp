// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/completion.hpp"

namespace zipmpi::proto {

void Completion::finish_without_memory(Operation& send) {
    finish_with_error(send, fail(Err::no_mem, "free memory on this host or start fewer ranks",
                                 "shared memory for messages to rank %d of MPI_COMM_WORLD is exhausted",
                                 send.world_peer));
}

} // namespace zipmpi::proto
