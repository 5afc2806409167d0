// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/interjob/frame_sender.hpp"

namespace zipmpi::interjob {

Connection* FrameSender::connection_to(int external) {
    const ExternalPeer& peer = peers_.at(external);
    if (peer.failed) return nullptr;
    if (peer.connection != 0)
        if (Connection* const c = table_.find(peer.connection)) return c;
    return setup_.dial_peer(external);
}

PostStatus FrameSender::post(int external, const FrameHeader& head, const std::byte* payload,
                             const BufferRef& data) {
    Connection* const c = connection_to(external);
    if (c == nullptr) return PostStatus::failed;
    QueuedFrame& out = c->out.emplace_back();
    out.head.assign(reinterpret_cast<const char*>(&head), sizeof head);
    if (payload != nullptr && head.envelope.inline_bytes > 0)
        out.head.append(reinterpret_cast<const char*>(payload), head.envelope.inline_bytes);
    out.data = data;
    const bool first = c->out.size() == 1;
    if (c->is_open() && first) writer_.write_out(*c);
    // Without data the send is complete when it is queued.
    if (data.bytes == 0 || c->out.empty()) return PostStatus::done;
    c->out.back().notify = true;
    return PostStatus::in_flight;
}

PostStatus FrameSender::post(int external, FrameHeader::Kind kind, uint64_t number) {
    FrameHeader head;
    head.kind = kind;
    head.number = number;
    return post(external, head, nullptr, {});
}

void FrameSender::send_bye(int external) {
    FrameHeader bye;
    bye.kind = FrameHeader::Kind::bye;
    peers_.at(external).connection = 0;
    for (const auto& [number, c] : table_.all()) {
        if (!setup_.is_of_peer(*c, external) || c->bye_sent) continue;
        // The peer considers a connection open before this process receives its confirmation.
        const bool open_to_peer = c->is_open() || c->state == Connection::State::reply_sent;
        if (!open_to_peer && c->out.empty()) { // unused: do not wait for its setup
            c->bye_received = true;
            table_.mark_broken(*c);
            continue;
        }
        c->bye_sent = true;
        c->out.emplace_back().head.assign(reinterpret_cast<const char*>(&bye), sizeof bye);
        if (open_to_peer && c->out.size() == 1) writer_.write_out(*c);
        table_.request_sweep();
    }
}

void FrameSender::on_bye(Connection& c) {
    c.bye_received = true;
    peers_.at(c.external).left = true;
    if (shutting_down_ && !c.bye_sent) send_bye(c.external);
    table_.request_sweep();
}

} // namespace zipmpi::interjob
