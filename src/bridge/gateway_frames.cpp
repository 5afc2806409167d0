// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/gateway_frames.hpp"

namespace zipmpi::bridge {
namespace {

// A quick filter; on_route_update() validates the frame.
bool is_route_update(std::span<const std::byte> frame) {
    constexpr size_t at = offsetof(wire::Frame, type);
    return frame.size() > at && frame[at] == static_cast<std::byte>(wire::FrameType::route_update);
}

} // namespace

bool GatewayFrames::frame_arrived(const transport::FrameArrival& f) {
    const int path = paths_.path_of(f.id);
    if (path < 0) return false;
    endpoint_.on_frame(path, f.head, f.data);
    if (is_route_update(f.head)) on_route_update(path, f.head, f.data);
    return false;
}

void GatewayFrames::on_route_update(int path, std::span<const std::byte> head,
                                    std::span<const std::byte> data) {
    FrameView v;
    wire::RouteUpdate update{};
    if (!read_frame(head, data, job_, v) || !read_route_update(v, update)) return;
    if (paths_.on_route_update(path, update)) endpoint_.reroute();
}

void GatewayFrames::frame_sent(FrameTicket* ticket) { endpoint_.on_frame_sent(ticket); }

void GatewayFrames::peer_connected(Peer peer, int id) {
    const int path = paths_.path_of(id);
    if (path < 0) return;
    paths_.on_connected(path, peer);
    endpoint_.path_down(path); // frames on it may be lost
    endpoint_.path_up(path);
}

std::byte* GatewayFrames::receive_buffer_for(std::span<const std::byte> head, size_t bytes) {
    return endpoint_.receive_buffer_for(head, bytes);
}

} // namespace zipmpi::bridge
