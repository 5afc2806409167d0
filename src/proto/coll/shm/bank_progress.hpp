// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Operations of one member on a collective buffer, and which of them all members have finished: a bank is
// written again only after that.
#pragma once

#include "proto/coll/shm/coll_buffer_view.hpp"
#include "proto/coll/shm/coll_members.hpp"

namespace zipmpi::proto::coll {

class BankProgress {
  public:
    BankProgress(const CollBufferView& view, const CollMembers& members)
        : view_(view)
        , members_(members) {}

    // The next operation. This member has finished all before it, except the last `late`.
    uint32_t begin(uint32_t late) {
        const uint32_t op = ++op_;
        done_ = op - 1 - late;
        return op;
    }
    [[nodiscard]] bool is_bank_free(uint32_t op) const { return has_reached(all_done_ + view_.depth(), op); }
    // All members have finished the operations up to this one.
    void set_all_done(uint32_t op) { all_done_ = op; }
    // Makes progress visible to others: now and then, since no member waits while the lag is less than the
    // depth; and before this member sleeps.
    void publish_if_lagging() {
        if (done_ - published_ > view_.depth() / 4) publish();
    }
    void publish_all() {
        if (published_ != done_) publish();
    }

  private:
    void publish();

    const CollBufferView& view_;
    const CollMembers& members_;
    uint32_t op_ = 0;        // started last
    uint32_t all_done_ = 0;  // all members have finished operations up to this one
    uint32_t done_ = 0;      // this member has finished operations up to this one
    uint32_t published_ = 0; // value of done_ visible to others
};

} // namespace zipmpi::proto::coll
