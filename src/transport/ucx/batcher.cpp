// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/batcher.hpp"

#include <cstring>
#include <utility>

namespace zipmpi::transport::ucx {
namespace {

constexpr uint32_t unbatched_messages = 3; // messages to one peer between two progress calls
constexpr size_t max_batched_message = 4U << 10;
constexpr size_t max_batches = 64; // not completed by UCX; beyond that, messages are sent unbatched

} // namespace

bool Batcher::may_batch(PeerState& to, const BufferRef& data) {
    return to.burst.count(counters_.poll_id) > unbatched_messages && data.bytes <= max_batched_message &&
           requests_.batches() < max_batches && !to.failed && to.tokens.sending != 0;
}

bool Batcher::batch(PeerState& to, const wire::Envelope& envelope, const std::byte* payload,
                    const BufferRef& data) {
    if (!may_batch(to, data)) return false;
    const size_t bytes =
        sizeof(wire::BatchEntry) + sizeof(wire::NetHeader) + envelope.inline_bytes + data.bytes;
    if (to.batches.messages != nullptr && to.batches.messages->used + bytes > SendRequests::batch_bytes)
        send_batch(to);
    if (to.batches.messages == nullptr) {
        to.batches.messages = &requests_.acquire_batch();
        waiting_.push_back(to.index);
    }
    SendRequest& batch = *to.batches.messages;
    const wire::NetHeader h{to.tokens.sending, to.messages.new_number(), envelope};
    const wire::BatchEntry entry{static_cast<uint32_t>(data.bytes)};
    std::byte* at = batch.staging.packed.data() + batch.used;
    const auto append = [&at](const void* from, size_t n) {
        std::memcpy(at, from, n);
        at += n;
    };
    append(&entry, sizeof entry);
    append(&h, sizeof h);
    if (envelope.inline_bytes != 0) append(payload, envelope.inline_bytes);
    if (data.bytes != 0 && data.at == nullptr) listener_.pack(data.operation, 0, at, data.bytes);
    if (data.bytes != 0 && data.at != nullptr) append(data.at, data.bytes);
    batch.used += bytes;
    batch.batched_ops.push_back(data.operation);
    return true;
}

// The batched messages were copied: their memory is free once the batch is sent.
void Batcher::send_batch(PeerState& to) {
    SendRequest& s = *std::exchange(to.batches.messages, nullptr);
    std::vector<NetworkOperation*> operations = std::exchange(s.batched_ops, std::move(spare_ops_));
    const ucs_status_t status = requests_.send(s, to.failed ? nullptr : to.endpoint, wire::net_batch,
                                               std::span(s.staging.packed).first(s.used));
    if (status != UCS_OK) peers_.mark_failed(to, ucs_status_string(status));
    const OpStatus outcome = status == UCS_OK ? OpStatus::done : OpStatus::failed;
    for (NetworkOperation* operation : operations) listener_.send_finished(operation, outcome);
    counters_.events += static_cast<int>(operations.size());
    operations.clear();
    spare_ops_ = std::move(operations);
}

void Batcher::flush() {
    while (!waiting_.empty()) { // completions may send again
        PeerState& to = peers_[waiting_.back()];
        waiting_.pop_back();
        if (to.batches.messages != nullptr) send_batch(to);
    }
}

} // namespace zipmpi::transport::ucx
