// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/record_sender.hpp"

#include <cstring>
#include <utility>

namespace zipmpi::transport::ofi {
namespace {

constexpr uint64_t max_copied = 4U << 10; // longer data is sent from its place
constexpr uint64_t max_batched = 2U << 10;

} // namespace

// Messages are sent in the order in which they are opened.
SendRequest& RecordSender::open(PeerState& to) {
    SendRequest& s = requests_.acquire(to);
    const wire::OfiHead head{to.tokens.sending, to.order.new_number(), 0};
    s.append(&head, sizeof head);
    return s;
}

void RecordSender::append_head(SendRequest& s, const OutgoingRecord& record) {
    const wire::OfiRecord head{
        record.kind,
        static_cast<uint32_t>(record.head.size() - record.envelope.inline_bytes + record.data.bytes),
        record.envelope};
    s.append(&head, sizeof head);
    s.append(record.head.data(), record.head.size());
}

void RecordSender::append_data(SendRequest& s, const BufferRef& data) {
    if (data.at == nullptr && data.bytes != 0) {
        listener_.pack(data.operation, 0, s.bytes.data() + s.used, data.bytes);
        s.used += data.bytes;
    } else {
        s.append(data.at, data.bytes);
    }
}

// The whole message becomes one piece of memory.
void RecordSender::pack(SendRequest& s, const BufferRef& data) {
    s.packed.resize(s.used + data.bytes);
    std::memcpy(s.packed.data(), s.bytes.data(), s.used);
    if (data.at == nullptr)
        listener_.pack(data.operation, 0, s.packed.data() + s.used, data.bytes);
    else
        std::memcpy(s.packed.data() + s.used, data.at, data.bytes);
}

PostStatus RecordSender::send(PeerState& to, const OutgoingRecord& record) {
    if (to.batch != nullptr) send_batch(to); // keep the order
    const BufferRef& data = record.data;
    SendRequest& s = open(to);
    append_head(s, record);
    const bool has_owner = data.operation != nullptr || record.ticket != nullptr;
    const bool in_place = data.bytes > max_copied && data.at != nullptr && has_owner && endpoint_.gathers();
    if (in_place) {
        s.in_place = {data.at, data.bytes};
        s.operation = data.operation;
        s.ticket = record.ticket;
    } else if (data.bytes <= max_copied) {
        append_data(s, data);
    } else {
        pack(s, data);
    }
    const SendRequests::Outcome outcome = requests_.post(s);
    if (outcome == SendRequests::Outcome::failed) return PostStatus::failed;
    if (in_place) return PostStatus::in_flight;
    if (outcome == SendRequests::Outcome::sent || data.operation == nullptr) return PostStatus::done;
    s.copied.push_back(data.operation); // its sender must not run ahead of the network
    return PostStatus::in_flight;
}

bool RecordSender::batch(PeerState& to, const OutgoingRecord& record, uint32_t sent_at_once) {
    const size_t bytes = sizeof(wire::OfiRecord) + record.head.size() + record.data.bytes;
    if (to.burst.count(counters_.poll_id) <= sent_at_once || bytes > max_batched) return false;
    if (to.batch != nullptr && to.batch->room() < bytes) send_batch(to);
    if (to.readiness() != PostStatus::done) return false; // found while sending
    if (to.batch == nullptr) {
        to.batch = &open(to);
        waiting_.push_back(to.index);
    }
    append_head(*to.batch, record);
    append_data(*to.batch, record.data);
    if (record.data.operation != nullptr) to.batch->copied.push_back(record.data.operation);
    return true;
}

void RecordSender::send_batch(PeerState& to) {
    SendRequest& s = *std::exchange(to.batch, nullptr);
    std::vector<NetworkOperation*> copied = std::exchange(s.copied, {});
    const SendRequests::Outcome outcome = requests_.post(s);
    if (outcome == SendRequests::Outcome::queued) {
        s.copied = std::move(copied);
        return;
    }
    counters_.events += static_cast<int>(copied.size());
    const OpStatus status = outcome == SendRequests::Outcome::sent ? OpStatus::done : OpStatus::failed;
    for (NetworkOperation* const operation : copied) listener_.send_finished(operation, status);
}

void RecordSender::flush() {
    while (!waiting_.empty()) { // listeners may send again
        PeerState& to = peers_[waiting_.back()];
        waiting_.pop_back();
        if (to.batch != nullptr) send_batch(to);
    }
}

} // namespace zipmpi::transport::ofi
