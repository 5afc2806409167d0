// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/stream/bulk_transfers.hpp"

#include <utility>

namespace zipmpi::transport::stream {

void BulkTransfers::add_send(const BulkKey& key, const BufferRef& data) {
    sends_.emplace(key.number, PendingSend{key.peer, data});
}

std::optional<BufferRef> BulkTransfers::take_send(const BulkKey& key) {
    const auto found = sends_.find(key.number);
    if (found == sends_.end() || found->second.peer != key.peer) return std::nullopt;
    const BufferRef data = found->second.data;
    sends_.erase(found);
    return data;
}

bool BulkTransfers::is_new_announcement(const BulkKey& key) {
    uint64_t& last = last_announced_[key.peer];
    if (key.number <= last) return false; // numbers of a sender increase
    last = key.number;
    return true;
}

IncomingBulk& BulkTransfers::add_announced(const BulkKey& key) {
    auto handle = std::make_unique<IncomingBulk>();
    IncomingBulk& bytes = *handle;
    announced_.emplace(&bytes, Announced{key, std::move(handle)});
    return bytes;
}

std::optional<BulkKey> BulkTransfers::take_announced(IncomingBulk& bytes) {
    const auto found = announced_.find(&bytes);
    if (found == announced_.end()) return std::nullopt;
    const BulkKey key = found->second.key;
    announced_.erase(found);
    return key;
}

const BufferRef* BulkTransfers::find_fetch(const BulkKey& key) const {
    const auto found = fetches_.find(key);
    return found != fetches_.end() ? &found->second.to : nullptr;
}

bool BulkTransfers::begin_delivery(const BulkKey& key, uint64_t bytes) {
    const auto found = fetches_.find(key);
    if (found == fetches_.end() || found->second.to.bytes != bytes || bytes == 0) return false;
    return !std::exchange(found->second.delivering, true);
}

NetworkOperation* BulkTransfers::end_fetch(const BulkKey& key) {
    const auto found = fetches_.find(key);
    NetworkOperation* const operation = found->second.to.operation;
    fetches_.erase(found);
    return operation;
}

void BulkTransfers::abandon(int peer, std::vector<NetworkOperation*>& unsent,
                            std::vector<NetworkOperation*>& unreceived) {
    std::erase_if(sends_, [&](const auto& send) {
        const bool of_peer = send.second.peer == peer;
        if (of_peer) unsent.push_back(send.second.data.operation);
        return of_peer;
    });
    std::erase_if(fetches_, [&](const auto& fetch) {
        const bool of_peer = fetch.first.peer == peer;
        if (of_peer) unreceived.push_back(fetch.second.to.operation);
        return of_peer;
    });
}

} // namespace zipmpi::transport::stream
