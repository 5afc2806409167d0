// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Sends bulk data through the cells of this rank, and waits for cells that readers return.
#pragma once

#include "transport/shm/cell_pool.hpp"
#include "transport/shm/send_rings.hpp"

namespace zipmpi::transport::shm {

class CellSender {
  public:
    CellSender(const LocalRank& own, SendRings& rings)
        : own_(own)
        , cells_(own.segment, own.index)
        , rings_(rings) {}

    SendStatus send(Peer peer, const wire::Envelope& envelope, const std::byte* payload, size_t bytes,
                    const BulkSource& bulk);
    bool limit_reached(size_t most) {
        const bool many = cells_.in_use_at_least(most);
        if (many) request_cell();
        return many;
    }
    void prefetch() { cells_.prefetch(); }
    void reclaim_from(Peer reader) { cells_.reclaim_from(reader); }
    [[nodiscard]] bool is_waiting() const { return waiting_; }
    // Before a sleep: makes readers send a wakeup with the next cell that they return.
    void request_wakeup();

  private:
    [[gnu::cold]] void request_cell();

    LocalRank own_;
    CellPool cells_;
    SendRings& rings_;
    bool waiting_ = false;
};

} // namespace zipmpi::transport::shm
