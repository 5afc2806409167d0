// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/frame_transmitter.hpp"

namespace zipmpi::bridge {
namespace {

bool was_accepted(PostStatus posted) { return posted == PostStatus::done || posted == PostStatus::in_flight; }

} // namespace

PostStatus FrameTransmitter::send_data(UnackedFrame& unacked, int path) {
    Flow& flow = *unacked.flow;
    const bool with_ack = flow.due_ack.ns != 0;
    const wire::AckBlock ack = with_ack ? flow.in.ack_block() : wire::AckBlock{};
    const size_t sealed = unacked.sealed.size();
    FrameCodec::FrameParts parts{unacked.fields.header(),
                                 with_ack ? &ack : nullptr,
                                 {unacked.head, unacked.head_bytes},
                                 unacked.data,
                                 &unacked.sealed};
    FrameBytes frame;
    const PostStatus posted = codec_.build(flow, path, parts, frame)
                                  ? io_.send(path, frame.all(), parts.data, &unacked)
                                  : PostStatus::failed;
    if (posted != PostStatus::in_flight) codec_.release_sealed(unacked.sealed, sealed, unacked.data.size());
    if (!was_accepted(posted)) return posted;
    if (with_ack) flow.due_ack = {};
    ++counters_.frames_out;
    return posted;
}

bool FrameTransmitter::send_control(Flow& flow, wire::FrameType type, uint64_t sequence,
                                    std::span<const std::byte> content) {
    const int path = paths_.control_path(flow.route);
    if (path < 0) return false;
    FrameCodec::FrameParts parts{{}, nullptr, content, {}, nullptr};
    parts.header.type = type;
    parts.header.sequence = sequence;
    FrameBytes frame;
    if (!codec_.build(flow, path, parts, frame) || !was_accepted(io_.send(path, frame.all(), {}, nullptr)))
        return false;
    paths_.count_control(path);
    ++counters_.control_out;
    return true;
}

} // namespace zipmpi::bridge
