// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Frames of the bridge, between ranks and gateways. They describe themselves and need no order; here they
// only get the pass of the receiver in front.
#include "transport/ucx/engine.hpp"

#include <cstring>

namespace zipmpi::transport::ucx {
namespace {

constexpr uint64_t index_mask = (uint64_t{1} << pass_index_bits) - 1;

} // namespace

Posted Engine::send_frame(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data,
                          void* ticket) {
    Known& to = peers_[peer];
    if (to.lost || to.endpoint == nullptr || head.size() > wire::frame_head_max + wire::frame_small)
        return Posted::failed;
    if (to.pass == 0) return Posted::would_block;
    Sending& s = take_sending();
    std::memcpy(s.header, &to.pass, sizeof to.pass);
    std::memcpy(s.header + sizeof to.pass, head.data(), head.size());
    size_t bytes = sizeof to.pass + head.size();
    ucp_request_param_t param = asking_for(s, UCP_AM_SEND_FLAG_EAGER);
    void* request = nullptr;
    const bool whole = bytes + data.size() <= sizeof s.header;
    if (whole) { // UCX is quicker with data than with a header
        if (!data.empty()) std::memcpy(s.header + bytes, data.data(), data.size());
        bytes += data.size();
        request = ucp_am_send_nbx(to.endpoint, wire::net_frame, nullptr, 0, s.header, bytes, &param);
    } else {
        s.ticket = ticket;
        request =
            ucp_am_send_nbx(to.endpoint, wire::net_frame, s.header, bytes, data.data(), data.size(), &param);
    }
    if (UCS_PTR_IS_PTR(request)) return whole ? Posted::done : Posted::under_way;
    give_back(s);
    if (request == nullptr) return Posted::done;
    lose(to, ucs_status_string(UCS_PTR_STATUS(request)));
    return Posted::failed;
}

ucs_status_t Engine::on_frame(void* self, const void* header, size_t header_length, void* data, size_t length,
                              const ucp_am_recv_param_t* param) {
    Engine* const engine = with_data(self, param);
    if (engine == nullptr) return UCS_OK;
    const std::span head(static_cast<const std::byte*>(header), header_length);
    const std::span rest(static_cast<const std::byte*>(data), length);
    const bool may_keep = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA) != 0;
    if (head.empty()) return engine->take_frame(rest, {}, nullptr);
    return engine->take_frame(head, rest, may_keep ? data : nullptr);
}

ucs_status_t Engine::take_frame(std::span<const std::byte> head, std::span<const std::byte> data,
                                void* descriptor) {
    uint64_t pass = 0;
    if (head.size() > sizeof pass) std::memcpy(&pass, head.data(), sizeof pass);
    const auto from = static_cast<Peer>(pass & index_mask);
    if (from >= peers_.size() || peers_[from].given_pass != pass || sink_.frame == nullptr) {
        ++strangers_;
        return UCS_OK;
    }
    const FrameArrival arrival{from, peers_[from].world_rank, head.subspan(sizeof pass), data, descriptor};
    return sink_.frame(sink_.subject, arrival) && descriptor != nullptr ? UCS_INPROGRESS : UCS_OK;
}

} // namespace zipmpi::transport::ucx
