// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reply of a target to the batches of one origin, under construction.
#pragma once

#include "proto/rma/am_messenger.hpp"

namespace zipmpi::proto::rma {

class BatchReply {
  public:
    BatchReply(AmMessenger& messenger, int origin)
        : messenger_(messenger)
        , origin_(origin) {}

    [[nodiscard]] bool empty() const { return bytes_.empty(); }
    [[nodiscard]] const Bytes& bytes() const { return bytes_; } // header and replies so far
    // All batches up to this number are executed.
    void set_served(uint32_t number) { served_ = number; }
    // Adds the reply to a request and returns the memory for its data. Sends the batch reply first if it
    // would become too long. Returns null if the reply exceeds the limit.
    std::byte* add(uint32_t id, uint64_t bytes);
    // Removes the reply added last; data: from add().
    void remove(const std::byte* data);
    // The request is rejected; with its own reply, or by a count.
    void add_refusal(uint32_t id, wire::RmaRefusal why);
    void count_refusal() { ++refused_; }
    // The origin did not get a lock because a failed member may hold it.
    void set_lock_refused() { flags_ = wire::rma_lock_refused; }
    void send();

  private:
    std::byte* append(const wire::RmaReply& reply);

    AmMessenger& messenger_;
    int origin_;
    uint32_t served_ = 0;
    uint32_t refused_ = 0; // rejected requests, not reported yet
    uint32_t flags_ = 0;   // of the next batch reply
    Bytes bytes_;
};

} // namespace zipmpi::proto::rma
