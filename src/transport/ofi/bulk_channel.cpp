// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/bulk_channel.hpp"

#include <algorithm>
#include <cstring>
#include <rdma/fi_errno.h>
#include <utility>

namespace zipmpi::transport::ofi {
namespace {

uint64_t segment_at(uint64_t offset, uint64_t bytes) {
    return std::min(bytes - offset, wire::ofi_segment_bytes);
}

} // namespace

std::span<std::byte> BulkChannel::Fetch::segment() {
    std::byte* const memory = to.at != nullptr ? to.at : packed.data();
    return {memory + received, segment_at(received, to.bytes)};
}

PostStatus BulkChannel::announce(PeerState& to, const wire::Envelope& envelope,
                                 std::span<const std::byte> payload, const BufferRef& data) {
    const uint64_t number = transfers_.new_number();
    const wire::OfiBulk bulk{number, data.bytes, 0};
    std::array<std::byte, wire::inline_max + sizeof bulk> head; // NOLINT: filled as far as used
    if (!payload.empty()) std::memcpy(head.data(), payload.data(), payload.size());
    std::memcpy(head.data() + payload.size(), &bulk, sizeof bulk);
    transfers_.add_send({static_cast<int>(to.index), number}, data);
    const PostStatus posted = records_.send(
        to, {wire::OfiRecordKind::rts, envelope, std::span(head).first(payload.size() + sizeof bulk)});
    if (posted != PostStatus::failed) return PostStatus::in_flight;
    return transfers_.take_send({static_cast<int>(to.index), number}).has_value() ? PostStatus::failed
                                                                                  : PostStatus::in_flight;
}

void BulkChannel::send_control(PeerState& to, wire::OfiRecordKind kind, const wire::OfiBulk& bulk) {
    if (to.readiness() == PostStatus::done)
        static_cast<void>(records_.send(to, {kind, {}, std::as_bytes(std::span(&bulk, 1))}));
}

bool BulkChannel::record_arrived(PeerState& from, const Record& record) {
    wire::OfiBulk bulk{};
    if (record.data.size() != sizeof bulk) return false;
    std::memcpy(&bulk, record.data.data(), sizeof bulk);
    const stream::BulkKey key{static_cast<int>(from.index), bulk.number};
    if (record.head.kind == wire::OfiRecordKind::rts) {
        if (!transfers_.is_new_announcement(key)) return false;
        announced(from, record, bulk);
        return true;
    }
    const std::optional<BufferRef> data = transfers_.take_send(key);
    if (!data.has_value()) return false;
    if (record.head.kind == wire::OfiRecordKind::pull && data->bytes != 0) {
        send_data(from, *data, bulk.tag);
    } else {
        ++counters_.events;
        listener_.send_finished(data->operation, OpStatus::done);
    }
    return true;
}

void BulkChannel::announced(PeerState& from, const Record& record, const wire::OfiBulk& bulk) {
    IncomingBulk& handle = transfers_.add_announced({static_cast<int>(from.index), bulk.number});
    listener_.rts_arrived({from.index, record.head.envelope, record.payload.data(), nullptr, 0}, handle,
                          bulk.bytes);
}

void BulkChannel::send_data(PeerState& to, const BufferRef& data, uint64_t tag) {
    const auto bulk = std::make_shared<BulkSend>();
    bulk->data = data;
    if (data.at == nullptr) {
        bulk->packed.resize(data.bytes);
        listener_.pack(data.operation, 0, bulk->packed.data(), data.bytes);
    }
    const std::byte* const memory = data.at != nullptr ? data.at : bulk->packed.data();
    bulk->segments_left = (data.bytes + wire::ofi_segment_bytes - 1) / wire::ofi_segment_bytes;
    for (uint64_t offset = 0; offset < data.bytes; offset += wire::ofi_segment_bytes) {
        SendRequest& s = requests_.acquire(to);
        s.tag = tag;
        s.in_place = {memory + offset, segment_at(offset, data.bytes)};
        s.bulk = bulk;
        if (requests_.post(s) != SendRequests::Outcome::failed) continue;
        NetworkOperation* const operation = std::exchange(bulk->data.operation, nullptr);
        if (operation != nullptr) listener_.send_finished(operation, OpStatus::failed);
        return;
    }
}

void BulkChannel::fetch(IncomingBulk& bytes, const BufferRef& to) {
    const std::optional<stream::BulkKey> key = transfers_.take_announced(bytes);
    if (!key.has_value()) return;
    PeerState& from = peers_[static_cast<Peer>(key->peer)];
    const bool is_empty = to.bytes == 0;
    if (is_empty || from.readiness() == PostStatus::failed) {
        send_control(from, wire::OfiRecordKind::refuse, {key->number, 0, 0});
        ++counters_.events;
        listener_.fetch_finished(to.operation, is_empty ? OpStatus::done : OpStatus::failed);
        return;
    }
    auto owned = std::make_unique<Fetch>();
    Fetch& f = *owned;
    fetches_.emplace(&f, std::move(owned));
    f.handler = this;
    f.key = *key;
    f.to = to;
    f.tag = auth::random_token() >> (64U - wire::ofi_tag_bits);
    if (to.at == nullptr) f.packed.resize(to.bytes);
    post_receive(f);
}

// Posts the next segment. The peer is asked for the data once the first one is posted.
void BulkChannel::post_receive(Fetch& f) {
    const Posted posted = endpoint_.receive_tagged(f.segment(), f.tag, f);
    if (posted == Posted::try_again) {
        unposted_.push_back(&f);
        return;
    }
    if (posted == Posted::failed) {
        fail_fetch(f);
        return;
    }
    f.posted = true;
    if (f.received == 0)
        send_control(peers_[static_cast<Peer>(f.key.peer)], wire::OfiRecordKind::pull,
                     {f.key.number, 0, f.tag});
}

void BulkChannel::retry() {
    for (Fetch* const f : std::exchange(unposted_, {})) post_receive(*f);
}

void BulkChannel::completed(OperationContext& operation, const Completion& completion) {
    auto& f = static_cast<Fetch&>(operation);
    f.posted = false;
    if (f.to.operation == nullptr) { // it was abandoned
        fetches_.erase(&f);
        return;
    }
    if (completion.error != 0 || completion.bytes != f.segment().size()) {
        fail_fetch(f);
        return;
    }
    f.received += completion.bytes;
    if (f.received < f.to.bytes)
        post_receive(f);
    else
        finish_fetch(f, OpStatus::done);
}

void BulkChannel::fail_fetch(Fetch& f) {
    if (peers_.record_failure(peers_[static_cast<Peer>(f.key.peer)], "the data of a message did not arrive"))
        finish_fetch(f, OpStatus::failed);
}

// One that libfabric has is destroyed when it completes.
void BulkChannel::finish_fetch(Fetch& f, OpStatus outcome) {
    NetworkOperation* const operation = std::exchange(f.to.operation, nullptr);
    if (outcome == OpStatus::done && f.to.at == nullptr)
        listener_.unpack(operation, 0, f.packed.data(), f.to.bytes);
    if (!f.posted) fetches_.erase(&f);
    ++counters_.events;
    listener_.fetch_finished(operation, outcome);
}

void BulkChannel::drop(IncomingBulk& bytes) {
    if (const std::optional<stream::BulkKey> key = transfers_.take_announced(bytes); key.has_value())
        send_control(peers_[static_cast<Peer>(key->peer)], wire::OfiRecordKind::refuse, {key->number, 0, 0});
}

void BulkChannel::abandon(const PeerState& peer) {
    std::vector<NetworkOperation*> unsent;
    std::vector<NetworkOperation*> unreceived; // stays empty: fetches are in fetches_
    transfers_.abandon(static_cast<int>(peer.index), unsent, unreceived);
    std::vector<Fetch*> of_peer;
    for (const auto& [f, owned] : fetches_)
        if (f->key.peer == static_cast<int>(peer.index) && f->to.operation != nullptr) of_peer.push_back(f);
    for (Fetch* const f : of_peer) {
        std::erase(unposted_, f);
        if (f->posted) endpoint_.cancel(*f);
        finish_fetch(*f, OpStatus::failed);
    }
    counters_.events += static_cast<int>(unsent.size());
    for (NetworkOperation* const operation : unsent) listener_.send_finished(operation, OpStatus::failed);
}

} // namespace zipmpi::transport::ofi
