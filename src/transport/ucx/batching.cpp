// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Short nonblocking sends in a row share one UCX message: over TCP each UCX message is a system call, which
// takes longer than a short message. The first few of a burst are sent immediately; the others when the batch
// is full, when another message goes to the same peer, or at the next progress call, which precedes any test
// for completion.
#include "transport/ucx/message_header.hpp"
#include "transport/ucx/ucx_network.hpp"

#include <cstring>
#include <utility>

namespace zipmpi::transport::ucx {
namespace {

constexpr uint32_t unbatched_messages = 3; // messages to one peer between two progress calls
constexpr size_t max_batched_message = 4U << 10;
constexpr size_t max_batches = 64; // not completed by UCX; beyond that, messages are sent unbatched

} // namespace

bool UcxNetwork::may_batch(PeerState& to, const BufferRef& data) {
    if (to.poll_id != poll_id_) to.sent_since_poll = 0;
    to.poll_id = poll_id_;
    return ++to.sent_since_poll > unbatched_messages && data.bytes <= max_batched_message &&
           batches_ < max_batches && !to.failed && to.token != 0;
}

PostStatus UcxNetwork::send_batched(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                                    const BufferRef& data) {
    PeerState& to = peers_[peer];
    if (!may_batch(to, data)) return send(peer, envelope, payload, data);
    const wire::NetHeader h{to.token, to.sent + 1, envelope};
    const size_t bytes = sizeof(wire::BatchEntry) + sizeof h + envelope.inline_bytes + data.bytes;
    if (to.batch != nullptr && to.batch->used + bytes > batch_bytes) send_batch(to);
    if (to.batch == nullptr) {
        to.batch = &new_batch();
        waiting_batches_.push_back(peer);
    }
    SendRequest& batch = *to.batch;
    const wire::BatchEntry entry{static_cast<uint32_t>(data.bytes)};
    std::byte* at = batch.staging.packed.data() + batch.used;
    const auto append = [&at](const void* from, size_t n) {
        std::memcpy(at, from, n);
        at += n;
    };
    append(&entry, sizeof entry);
    append(&h, sizeof h);
    if (envelope.inline_bytes != 0) append(payload, envelope.inline_bytes);
    if (data.bytes != 0 && data.at == nullptr) callbacks_.pack(data.operation, 0, at, data.bytes);
    if (data.bytes != 0 && data.at != nullptr) append(data.at, data.bytes);
    batch.used += bytes;
    batch.batched_ops.push_back(data.operation);
    ++to.sent;
    return PostStatus::in_flight;
}

UcxNetwork::SendRequest& UcxNetwork::new_batch() {
    SendRequest& s = acquire_request();
    s.staging.packed = acquire_pack_buffer(batch_bytes);
    s.used = 0;
    ++batches_;
    return s;
}

// The batched messages were copied: their memory is free once the batch is sent.
void UcxNetwork::send_batch(PeerState& to) {
    SendRequest& s = *std::exchange(to.batch, nullptr);
    const ucp_request_param_t param = request_params(s, UCP_AM_SEND_FLAG_EAGER);
    std::vector<void*> operations = std::exchange(s.batched_ops, std::move(spare_batched_ops_));
    void* request = to.failed ? UCS_STATUS_PTR(UCS_ERR_CONNECTION_RESET)
                              : ucp_am_send_nbx(to.endpoint, wire::net_batch, nullptr, 0,
                                                s.staging.packed.data(), s.used, &param);
    if (!UCS_PTR_IS_PTR(request)) release_request(s);
    if (UCS_PTR_IS_ERR(request)) mark_failed(to, ucs_status_string(UCS_PTR_STATUS(request)));
    const OpStatus outcome = UCS_PTR_IS_ERR(request) ? OpStatus::failed : OpStatus::done;
    for (void* operation : operations) callbacks_.sent(callbacks_.subject, operation, outcome);
    events_ += static_cast<int>(operations.size());
    operations.clear();
    spare_batched_ops_ = std::move(operations);
}

void UcxNetwork::flush_message_batches() {
    while (!waiting_batches_.empty()) { // completions may send again
        PeerState& to = peers_[waiting_batches_.back()];
        waiting_batches_.pop_back();
        if (to.batch != nullptr) send_batch(to);
    }
}

ucs_status_t UcxNetwork::on_batch(void* self, const void*, size_t, void* data, size_t length,
                                  const ucp_am_recv_param_t* param) {
    UcxNetwork* const network = callback_owner(self, param);
    if (network == nullptr) return UCS_OK;
    std::span<const std::byte> rest(static_cast<const std::byte*>(data), length);
    while (!rest.empty()) {
        std::span<const std::byte> header;
        std::span<const std::byte> bytes;
        if (!next_in_batch(rest, header, bytes)) {
            ++network->rejected_messages_;
            break;
        }
        network->receive_message(header, bytes, nullptr);
    }
    return UCS_OK;
}

} // namespace zipmpi::transport::ucx
