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
    void run() const { buffer->sync(buffer->begin(false, signature)); }
};

} // namespace

bool barrier(Schedule& s, Team& t) {
    CollBuffer* buffer = coll_buffer_for(s, t, 0);
    return buffer != nullptr && run_task(s, BarrierTask{buffer, {s.sequence(), CollKind::barrier, 0}});
}

} // namespace zipmpi::proto::coll::shm
