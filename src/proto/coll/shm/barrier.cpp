// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Barrier: one sync(). Flags take p - 1 cache-line transfers per rank; counters take two per rank.
#include "proto/coll/shm/shm.hpp"

namespace zipmpi::proto::coll::shm {
namespace {

struct BarrierTask {
    CollBuffer* buffer;
    CollSignature signature;
    void run() const { buffer->sync(buffer->begin(Leave::together, signature)); }
};

} // namespace

bool barrier(Collective& c, Team& t) {
    CollBuffer* buffer = coll_buffer_for(c, t, 0);
    return buffer != nullptr && run_task(c, BarrierTask{buffer, {c.sequence(), CollKind::barrier, 0}});
}

} // namespace zipmpi::proto::coll::shm
