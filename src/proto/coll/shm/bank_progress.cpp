// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/coll/shm/bank_progress.hpp"

namespace zipmpi::proto::coll {

void BankProgress::publish() {
    published_ = done_;
    wire::CollBufferMember& own = view_.member(members_.self());
    own.done.store(done_, std::memory_order_seq_cst);
    if (own.awaited.load(std::memory_order_seq_cst) == 0) return;
    // before the sleeper bits are read: a later sleeper sets it again
    own.awaited.store(0, std::memory_order_seq_cst);
    members_.wake(view_.head().bank_sleepers);
}

} // namespace zipmpi::proto::coll
