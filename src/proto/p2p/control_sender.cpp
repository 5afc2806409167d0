// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/control_sender.hpp"

namespace zipmpi::proto {

using transport::PostStatus;
using transport::SendStatus;

void ControlSender::send(transport::Peer peer, wire::MessageKind kind, const void* payload, size_t bytes,
                         uint32_t info) {
    const wire::Envelope e{kind, 0, 0, 0, 0, 0, static_cast<int32_t>(info), 0};
    if (queue_.has(peer) ||
        try_send(peer, e, static_cast<const std::byte*>(payload), bytes) != SendStatus::ok)
        queue_.push_control(peer, e, payload, bytes);
}

SendStatus ControlSender::try_send(transport::Peer peer, const wire::Envelope& e, const std::byte* payload,
                                   size_t bytes) {
    if (!peers_.is_remote(peer)) {
        const SendStatus sent = shm_.send_inline(peer, e, payload, bytes);
        if (sent == SendStatus::ok &&
            (e.kind == wire::MessageKind::cancel || e.kind == wire::MessageKind::hold_eager))
            shm_.notify_receiver(peer); // not counted as expected
        return sent;
    }
    wire::Envelope envelope = e;
    envelope.inline_bytes = static_cast<uint8_t>(bytes);
    // Control messages to a failed peer are dropped.
    const PostStatus posted = network_.get()->send(peers_.to_network(peer), envelope, payload, {});
    return posted == PostStatus::would_block ? SendStatus::would_block : SendStatus::ok;
}

void ControlSender::notify_context(int world_rank, wire::MessageKind what, uint32_t context) {
    transport::Peer peer = 0;
    if (!network_.connect(world_rank, peer)) return;
    queue_.add_peer(peer);
    send(peer, what, &context, sizeof context);
}

} // namespace zipmpi::proto
