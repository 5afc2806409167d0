// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Rendezvous messages over streams: data that stays with the sender until the receiver pulls it, messages
// reported to the protocols and not fetched yet, and destinations of the data that was pulled.
#pragma once

#include "transport/network.hpp"

#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace zipmpi::transport::stream {

// Identifies a rendezvous message of a peer.
struct BulkKey {
    int peer;
    uint64_t number; // assigned by the sender
    friend auto operator<=>(const BulkKey&, const BulkKey&) = default;
};

class BulkTransfers {
  public:
    [[nodiscard]] uint64_t new_number() { return next_number_++; }
    void add_send(const BulkKey& key, const BufferRef& data);
    // The peer has pulled or refused the data.
    [[nodiscard]] std::optional<BufferRef> take_send(const BulkKey& key);
    [[nodiscard]] bool has_sends() const { return !sends_.empty(); }

    // Each number names one message of a peer: false if the peer has used it before.
    [[nodiscard]] bool is_new_announcement(const BulkKey& key);
    // The peer has announced a message. The address of the result identifies it to the protocols.
    IncomingBulk& add_announced(const BulkKey& key);
    // Nothing: the message is of another network.
    [[nodiscard]] std::optional<BulkKey> take_announced(IncomingBulk& bytes);

    void start_fetch(const BulkKey& key, const BufferRef& to) { fetches_.emplace(key, Fetch{to}); }
    // The peer starts to deliver data. False: it was not pulled, has another length, or is being delivered on
    // another connection.
    [[nodiscard]] bool begin_delivery(const BulkKey& key, uint64_t bytes);
    // Destination of the data; null: it was not pulled.
    [[nodiscard]] const BufferRef* find_fetch(const BulkKey& key) const;
    NetworkOperation* end_fetch(const BulkKey& key);

    // The peer has failed: adds the operations that cannot complete.
    void abandon(int peer, std::vector<NetworkOperation*>& unsent,
                 std::vector<NetworkOperation*>& unreceived);

  private:
    struct PendingSend {
        int peer;
        BufferRef data;
    };
    struct Fetch {
        BufferRef to;
        bool delivering = false;
    };
    struct Announced {
        BulkKey key;
        std::unique_ptr<IncomingBulk> handle;
    };

    uint64_t next_number_ = 1;
    std::unordered_map<uint64_t, PendingSend> sends_; // by number
    std::unordered_map<IncomingBulk*, Announced> announced_;
    std::unordered_map<int, uint64_t> last_announced_; // by peer
    std::map<BulkKey, Fetch> fetches_;
};

} // namespace zipmpi::transport::stream
