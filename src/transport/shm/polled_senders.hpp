// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Poll mode hybrid: the senders whose rings are polled directly, which saves one cache miss compared to the
// arrival bitmap. All senders if there are at most max_polled, else few_polled, so that a poll stays O(1).
#pragma once

#include "transport/transport.hpp"

#include <algorithm>
#include <optional>

namespace zipmpi::transport::shm {

class PolledSenders {
  public:
    explicit PolledSenders(uint32_t local_ranks)
        : limit_(local_ranks <= max_polled + 1 ? max_polled : few_polled)
        , add_after_(local_ranks <= max_polled + 1 ? 1 : std::max(4U, local_ranks)) {}

    [[nodiscard]] uint32_t count() const { return count_; }
    [[nodiscard]] uint32_t limit() const { return limit_; }
    [[nodiscard]] Peer peer(uint32_t i) const { return senders_[i].peer; }
    void add_hits(uint32_t i, int messages) { senders_[i].hits += static_cast<uint32_t>(messages); }
    // Whether a sender with this number of arrivals by the bitmap is to be polled directly.
    [[nodiscard]] bool should_add(uint32_t arrivals) const { return arrivals >= add_after_; }
    // Adds a sender; at the limit it replaces the one with the fewest hits, which is returned.
    [[gnu::cold]] std::optional<Peer> add(Peer sender) {
        if (count_ < limit_) {
            senders_[count_++] = {sender, 0};
            return std::nullopt;
        }
        PolledSender* least =
            std::min_element(senders_, senders_ + count_,
                             [](const PolledSender& a, const PolledSender& b) { return a.hits < b.hits; });
        for (uint32_t i = 0; i < count_; ++i) senders_[i].hits /= 2;
        const Peer evicted = least->peer;
        *least = {sender, 0};
        return evicted;
    }

  private:
    static constexpr uint32_t max_polled = 16;
    static constexpr uint32_t few_polled = 4;
    struct PolledSender {
        Peer peer = 0;
        uint32_t hits = 0; // recent messages
    };

    PolledSender senders_[max_polled];
    uint32_t count_ = 0;
    uint32_t limit_;
    uint32_t add_after_; // arrivals by the bitmap
};

} // namespace zipmpi::transport::shm
