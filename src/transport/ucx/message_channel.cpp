// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/message_channel.hpp"

#include "transport/ucx/active_message.hpp"
#include "transport/ucx/message_header.hpp"

#include <cstring>
#include <utility>

namespace zipmpi::transport::ucx {
namespace {

DeviceIov iov_support(bool by_device) { return by_device ? DeviceIov::supported : DeviceIov::unsupported; }

} // namespace

bool MessageChannel::listen() {
    return worker_.handle(wire::net_control, on_control, this) &&
           worker_.handle(wire::net_batch, on_batch, this) &&
           worker_.handle(wire::net_message, on_message, this) &&
           worker_.handle(wire::net_rendezvous, on_message, this);
}

PostStatus MessageChannel::post(PeerState& to, MessageKind kind, const wire::Envelope& envelope,
                                const std::byte* payload, const BufferRef& data) {
    if (to.failed) return PostStatus::failed;
    if (to.tokens.sending == 0) return PostStatus::would_block;
    if (to.batches.messages != nullptr) batcher_.send_batch(to); // keep the order
    SendRequest& s = requests_.acquire();
    const wire::NetHeader h{to.tokens.sending, to.messages.new_number(), envelope};
    std::memcpy(s.header, &h, sizeof h);
    if (envelope.inline_bytes != 0) std::memcpy(s.header + sizeof h, payload, envelope.inline_bytes);
    s.data = data;
    ucp_request_param_t param = SendRequests::params(s, kind.flags);
    const size_t header_bytes = sizeof h + envelope.inline_bytes;
    void* request = nullptr;
    if (data.bytes == 0 && kind.id == wire::net_message) { // UCX sends data faster than a header
        request = ucp_am_send_nbx(to.endpoint, wire::net_control, nullptr, 0, s.header, header_bytes, &param);
    } else {
        const auto [memory, count] =
            staging_.stage(s.data, s.staging, iov_support(to.ep_info.has_rdma_read), param);
        if (!s.staging.packed.empty()) listener_.pack(data.operation, 0, s.staging.packed.data(), data.bytes);
        request = ucp_am_send_nbx(to.endpoint, kind.id, s.header, header_bytes, memory, count, &param);
    }
    if (UCS_PTR_IS_PTR(request)) return PostStatus::in_flight;
    requests_.release(s);
    if (request == nullptr) return PostStatus::done;
    peers_.mark_failed(to, ucs_status_string(UCS_PTR_STATUS(request)));
    return PostStatus::failed;
}

ucs_status_t MessageChannel::on_message(void* self, const void* header, size_t header_length, void* data,
                                        size_t length, const ucp_am_recv_param_t* param) {
    auto& channel = *static_cast<MessageChannel*>(self);
    ++channel.counters_.events;
    const std::span<const std::byte> head = bytes_at(header, header_length);
    if (!is_rendezvous(param)) return channel.receive(head, bytes_at(data, length), nullptr);
    return channel.receive(head, {}, new UcxIncomingBulk{{}, data, length, false});
}

ucs_status_t MessageChannel::on_control(void* self, const void*, size_t, void* data, size_t length,
                                        const ucp_am_recv_param_t* param) {
    auto& channel = *static_cast<MessageChannel*>(self);
    if (!count_eager(channel.counters_, param)) return UCS_OK;
    return channel.receive(bytes_at(data, length), {}, nullptr);
}

ucs_status_t MessageChannel::on_batch(void* self, const void*, size_t, void* data, size_t length,
                                      const ucp_am_recv_param_t* param) {
    auto& channel = *static_cast<MessageChannel*>(self);
    if (!count_eager(channel.counters_, param)) return UCS_OK;
    std::span<const std::byte> rest = bytes_at(data, length);
    while (!rest.empty()) {
        std::span<const std::byte> header;
        std::span<const std::byte> bytes;
        if (!next_in_batch(rest, header, bytes)) {
            ++channel.counters_.rejected_messages;
            break;
        }
        channel.receive(header, bytes, nullptr);
    }
    return UCS_OK;
}

ucs_status_t MessageChannel::receive(std::span<const std::byte> header, std::span<const std::byte> data,
                                     UcxIncomingBulk* bytes) {
    wire::NetHeader h{};
    std::span<const std::byte> payload;
    const bool whole = read_header(header, h, payload);
    if (!whole) ++counters_.rejected_messages;
    PeerState* const peer = whole ? peers_.authenticate(h.token) : nullptr;
    if (peer == nullptr) {
        delete bytes;
        return UCS_OK; // UCX reports the drop to the sender of a rendezvous message
    }
    using Turn = MessageOrder<ReorderedMessage>::Turn;
    const Turn turn = peer->messages.arrived(h.number);
    if (turn == Turn::now) [[likely]] {
        deliver(*peer, header, data, bytes);
        while (std::optional<ReorderedMessage> next = peer->messages.take_next())
            deliver(*peer, std::as_bytes(std::span(next->header)), std::as_bytes(std::span(next->data)),
                    next->bytes.release());
    } else if (turn == Turn::later) {
        const auto text = [](std::span<const std::byte> s) {
            return std::string(reinterpret_cast<const char*>(s.data()), s.size());
        };
        peer->messages.hold(h.number, {text(header), text(data), std::unique_ptr<UcxIncomingBulk>(bytes)});
    } else {
        ++counters_.rejected_messages;
        delete bytes;
        return UCS_OK;
    }
    return bytes != nullptr ? UCS_INPROGRESS : UCS_OK;
}

void MessageChannel::deliver(PeerState& from, std::span<const std::byte> header,
                             std::span<const std::byte> data, UcxIncomingBulk* bytes) {
    wire::NetHeader h{};
    std::span<const std::byte> payload;
    if (!read_header(header, h, payload)) return; // validated before
    if (bytes != nullptr) bytes->scatters = from.ep_info.has_rdma_read;
    const Arrival arrival{from.index, h.envelope, payload.data(), data.empty() ? nullptr : data.data(),
                          data.size()};
    if (bytes == nullptr)
        listener_.message_arrived(arrival);
    else
        listener_.rts_arrived(arrival, *bytes, bytes->bytes);
}

void MessageChannel::fetch(IncomingBulk& message, const BufferRef& to) {
    auto& bytes = static_cast<UcxIncomingBulk&>(message);
    auto* r = new FetchRequest{this, to, {}, &bytes};
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param.cb.recv_am = on_fetched;
    param.user_data = r;
    const auto [memory, count] = staging_.stage(r->to, r->staging, iov_support(bytes.scatters), param);
    void* request = ucp_am_recv_data_nbx(worker_.get(), bytes.descriptor, memory, count, &param);
    if (!UCS_PTR_IS_PTR(request)) finish_fetch(*r, UCS_PTR_STATUS(request));
}

void MessageChannel::on_fetched(void* request, ucs_status_t status, size_t, void* user_data) {
    ucp_request_free(request);
    auto& r = *static_cast<FetchRequest*>(user_data);
    r.channel->finish_fetch(r, status);
}

void MessageChannel::finish_fetch(FetchRequest& r, ucs_status_t status) {
    NetworkOperation* const operation = r.to.operation;
    ++counters_.events;
    if (!r.staging.packed.empty() && status == UCS_OK)
        listener_.unpack(operation, 0, r.staging.packed.data(), r.to.bytes);
    staging_.release(std::move(r.staging.packed));
    delete r.bytes;
    delete &r;
    listener_.fetch_finished(operation, status == UCS_OK ? OpStatus::done : OpStatus::failed);
}

void MessageChannel::drop(IncomingBulk& message) {
    auto& bytes = static_cast<UcxIncomingBulk&>(message);
    ucp_am_data_release(worker_.get(), bytes.descriptor);
    delete &bytes;
}

} // namespace zipmpi::transport::ucx
