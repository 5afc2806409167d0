// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Sends and receives messages. UCX may deliver over several lanes: messages are numbered, and one that
// overtakes others is held back.
#include "transport/ucx/message_header.hpp"
#include "transport/ucx/ucx_network.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace zipmpi::transport::ucx {
namespace {

constexpr size_t max_iov = 256;
constexpr uint64_t index_mask = (uint64_t{1} << token_index_bits) - 1;

} // namespace

ucp_request_param_t UcxNetwork::request_params(SendRequest& s, uint32_t flags) {
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = flags;
    param.cb.send = on_sent;
    param.user_data = &s;
    return param;
}

UcxNetwork* UcxNetwork::callback_owner(void* self, const ucp_am_recv_param_t* param) {
    auto* const network = static_cast<UcxNetwork*>(self);
    ++network->events_;
    if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0) return network;
    ++network->rejected_messages_;
    return nullptr;
}

UcxNetwork::SendRequest& UcxNetwork::acquire_request() {
    if (free_requests_ == nullptr) {
        SendRequest& s = requests_.emplace_back();
        s.network = this;
        s.next_free = nullptr;
        free_requests_ = &s;
    }
    SendRequest& s = *free_requests_;
    free_requests_ = s.next_free;
    s.ticket = nullptr;
    needs_arm_ = true;
    ++in_flight_;
    return s;
}

void UcxNetwork::release_request(SendRequest& s) {
    s.handshake.clear();
    if (std::exchange(s.used, 0) != 0) --batches_;
    release_pack_buffer(std::move(s.staging.packed));
    s.data = {};
    s.next_free = free_requests_;
    free_requests_ = &s;
    --in_flight_;
}

bool UcxNetwork::fill_iov(const BufferRef& memory, IovStaging& staging) const {
    iovec list[max_iov];
    const size_t n = callbacks_.list_iov(memory.operation, list, max_iov);
    staging.iov.clear();
    for (size_t i = 0; i < n; ++i) staging.iov.push_back({list[i].iov_base, list[i].iov_len});
    return n != 0;
}

std::vector<std::byte> UcxNetwork::acquire_pack_buffer(uint64_t bytes) {
    std::vector<std::byte> buffer;
    if (!pack_buffers_.empty()) {
        buffer = std::move(pack_buffers_.back());
        pack_buffers_.pop_back();
    }
    if (buffer.size() < bytes) buffer.resize(bytes);
    return buffer;
}

void UcxNetwork::release_pack_buffer(std::vector<std::byte>&& buffer) {
    constexpr size_t max_buffers = 64;
    constexpr size_t largest_kept = 4U << 20;
    if (!buffer.empty() && buffer.size() <= largest_kept && pack_buffers_.size() < max_buffers)
        pack_buffers_.push_back(std::move(buffer));
    buffer.clear();
}

// Noncontiguous memory: an iovec where devices gather, else packed. Over TCP, UCX handles an iovec or a
// user-defined datatype at a third of the bandwidth.
std::pair<void*, size_t> UcxNetwork::stage_buffer(const BufferRef& m, IovStaging& staging, bool use_iov,
                                                  ucp_request_param_t& param) {
    if (m.at != nullptr || m.bytes == 0) return {m.at, m.bytes};
    if (use_iov && fill_iov(m, staging)) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
        param.datatype = UCP_DATATYPE_IOV;
        return {staging.iov.data(), staging.iov.size()};
    }
    staging.packed = acquire_pack_buffer(m.bytes);
    return {staging.packed.data(), m.bytes};
}

PostStatus UcxNetwork::send(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                            const BufferRef& data) {
    return post(peer, wire::net_message, envelope, payload, data, UCP_AM_SEND_FLAG_EAGER);
}

PostStatus UcxNetwork::send_rendezvous(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                                       const BufferRef& data) {
    return post(peer, wire::net_rendezvous, envelope, payload, data, UCP_AM_SEND_FLAG_RNDV);
}

PostStatus UcxNetwork::post(Peer peer, unsigned kind, const wire::Envelope& envelope,
                            const std::byte* payload, const BufferRef& data, uint32_t flags) {
    PeerState& to = peers_[peer];
    if (to.failed) return PostStatus::failed;
    if (to.token == 0) return PostStatus::would_block;
    if (to.batch != nullptr) send_batch(to); // keep the order
    SendRequest& s = acquire_request();
    const wire::NetHeader h{to.token, ++to.sent, envelope};
    std::memcpy(s.header, &h, sizeof h);
    if (envelope.inline_bytes != 0) std::memcpy(s.header + sizeof h, payload, envelope.inline_bytes);
    s.data = data;
    ucp_request_param_t param = request_params(s, flags);
    const size_t header_bytes = sizeof h + envelope.inline_bytes;
    void* request = nullptr;
    if (data.bytes == 0 && kind == wire::net_message) { // UCX sends data faster than a header
        request = ucp_am_send_nbx(to.endpoint, wire::net_control, nullptr, 0, s.header, header_bytes, &param);
    } else {
        const auto [memory, count] = stage_buffer(s.data, s.staging, to.ep_info.has_rdma_read, param);
        if (!s.staging.packed.empty())
            callbacks_.pack(data.operation, 0, s.staging.packed.data(), data.bytes);
        request = ucp_am_send_nbx(to.endpoint, kind, s.header, header_bytes, memory, count, &param);
    }
    if (UCS_PTR_IS_PTR(request)) return PostStatus::in_flight;
    release_request(s);
    if (request == nullptr) return PostStatus::done;
    mark_failed(to, ucs_status_string(UCS_PTR_STATUS(request)));
    return PostStatus::failed;
}

void UcxNetwork::on_sent(void* request, ucs_status_t status, void* user_data) {
    auto& s = *static_cast<SendRequest*>(user_data);
    UcxNetwork& network = *s.network;
    void* const operation = s.data.operation;
    void* const ticket = s.ticket;
    ++network.events_;
    ucp_request_free(request);
    network.release_request(s);
    if (ticket != nullptr) network.callbacks_.frame_sent(network.callbacks_.subject, ticket);
    if (operation != nullptr)
        network.callbacks_.sent(network.callbacks_.subject, operation,
                                status == UCS_OK ? OpStatus::done : OpStatus::failed);
}

ucs_status_t UcxNetwork::on_message(void* self, const void* header, size_t header_length, void* data,
                                    size_t length, const ucp_am_recv_param_t* param) {
    auto& network = *static_cast<UcxNetwork*>(self);
    ++network.events_;
    const std::span head(static_cast<const std::byte*>(header), header_length);
    if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0)
        return network.receive_message(head, {static_cast<const std::byte*>(data), length}, nullptr);
    return network.receive_message(head, {}, new UcxIncomingBulk{{}, data, length, false});
}

ucs_status_t UcxNetwork::on_control(void* self, const void*, size_t, void* data, size_t length,
                                    const ucp_am_recv_param_t* param) {
    UcxNetwork* const network = callback_owner(self, param);
    if (network == nullptr) return UCS_OK;
    return network->receive_message({static_cast<const std::byte*>(data), length}, {}, nullptr);
}

ucs_status_t UcxNetwork::receive_message(std::span<const std::byte> header, std::span<const std::byte> data,
                                         UcxIncomingBulk* bytes) {
    wire::NetHeader h{};
    std::span<const std::byte> payload;
    const bool whole = read_header(header, h, payload);
    const auto from = static_cast<Peer>(h.token & index_mask);
    if (!whole || from >= peers_.size() || peers_[from].issued_token != h.token) {
        ++rejected_messages_;
        delete bytes;
        return UCS_OK; // UCX reports the drop to the sender of a rendezvous message
    }
    PeerState& peer = peers_[from];
    if (h.number == peer.delivered + 1) [[likely]] {
        deliver(from, header, data, bytes);
        if (!peer.reordered.empty()) deliver_reordered(from);
    } else {
        const auto text = [](std::span<const std::byte> s) {
            return std::string(reinterpret_cast<const char*>(s.data()), s.size());
        };
        constexpr size_t max_reordered = 65536; // far more than lanes can differ by
        if (h.number - peer.delivered > max_reordered) {
            delete bytes;
            return UCS_OK;
        }
        peer.reordered.push_back({h.number, text(header), text(data), bytes});
    }
    return bytes != nullptr ? UCS_INPROGRESS : UCS_OK;
}

void UcxNetwork::deliver(Peer from, std::span<const std::byte> header, std::span<const std::byte> data,
                         UcxIncomingBulk* bytes) {
    wire::NetHeader h{};
    std::span<const std::byte> payload;
    if (!read_header(header, h, payload)) return; // validated before
    peers_[from].delivered = h.number;
    if (bytes != nullptr) bytes->scatters = peers_[from].ep_info.has_rdma_read;
    const Arrival arrival{from, h.envelope, payload.data(), data.empty() ? nullptr : data.data(),
                          data.size()};
    if (bytes == nullptr)
        callbacks_.arrived(callbacks_.subject, arrival);
    else
        callbacks_.rts_arrived(callbacks_.subject, arrival, *bytes, bytes->bytes);
}

void UcxNetwork::deliver_reordered(Peer from) {
    PeerState& peer = peers_[from];
    for (bool found = true; found;) {
        found = false;
        for (size_t i = 0; i < peer.reordered.size() && !found; ++i) {
            if (peer.reordered[i].number != peer.delivered + 1) continue;
            const ReorderedMessage next = std::move(peer.reordered[i]);
            peer.reordered.erase(peer.reordered.begin() + static_cast<ptrdiff_t>(i));
            deliver(from, std::as_bytes(std::span(next.header)), std::as_bytes(std::span(next.data)),
                    next.bytes);
            found = true;
        }
    }
}

void UcxNetwork::fetch(IncomingBulk& message, const BufferRef& to) {
    auto& bytes = static_cast<UcxIncomingBulk&>(message);
    auto* r = new RecvRequest{this, to, {}, &bytes};
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param.cb.recv_am = on_fetched;
    param.user_data = r;
    const auto [memory, count] = stage_buffer(r->to, r->staging, bytes.scatters, param);
    void* request = ucp_am_recv_data_nbx(worker_, bytes.descriptor, memory, count, &param);
    if (!UCS_PTR_IS_PTR(request)) finish_fetch(*r, UCS_PTR_STATUS(request));
}

void UcxNetwork::on_fetched(void* request, ucs_status_t status, size_t, void* user_data) {
    ucp_request_free(request);
    auto& r = *static_cast<RecvRequest*>(user_data);
    r.network->finish_fetch(r, status);
}

void UcxNetwork::finish_fetch(RecvRequest& r, ucs_status_t status) {
    void* const operation = r.to.operation;
    ++events_;
    if (!r.staging.packed.empty() && status == UCS_OK)
        callbacks_.unpack(operation, 0, r.staging.packed.data(), r.to.bytes);
    release_pack_buffer(std::move(r.staging.packed));
    delete r.bytes;
    delete &r;
    callbacks_.fetched(callbacks_.subject, operation, status == UCS_OK ? OpStatus::done : OpStatus::failed);
}

void UcxNetwork::drop(IncomingBulk& message) {
    auto& bytes = static_cast<UcxIncomingBulk&>(message);
    ucp_am_data_release(worker_, bytes.descriptor);
    delete &bytes;
}

} // namespace zipmpi::transport::ucx
