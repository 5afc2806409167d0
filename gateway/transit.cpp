// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gateway/transit.hpp"

#include "bridge/frame.hpp"

#include <cstring>

namespace zipmpi::gateway {

InTransitFrame* make_transit(const IncomingFrame& incoming, const wire::Frame& header,
                             GatewayCounters& counters) {
    auto* const t = new InTransitFrame;
    std::span<const std::byte> head = incoming.head;
    std::span<const std::byte> data = incoming.data;
    t->network = incoming.network;
    t->from = incoming.from;
    t->bytes = head.size() + data.size();
    if (data.empty() && head.size() > wire::frame_head_max + wire::frame_small) { // in one part
        bridge::FrameView view;
        if (bridge::read_frame(head, {}, header.job, view)) {
            data = view.data;
            head = head.first(static_cast<size_t>(data.data() - head.data()));
        }
    }
    t->head.assign(head.begin(), head.end());
    std::memcpy(t->head.data(), &header, sizeof header);
    if (incoming.can_be_kept() && !data.empty()) {
        t->descriptor = incoming.descriptor;
        t->link_buffer = incoming.link_buffer;
        t->data = data;
    } else if (!data.empty()) {
        t->copy.assign(data.begin(), data.end());
        t->data = t->copy;
    }
    t->spliced = incoming.spliced;
    add(counters.buffered_bytes, t->bytes);
    const uint64_t buffered = counters.buffered_bytes.load(std::memory_order_relaxed);
    if (buffered > counters.max_buffered_bytes.load(std::memory_order_relaxed))
        counters.max_buffered_bytes.store(buffered, std::memory_order_relaxed);
    return t;
}

} // namespace zipmpi::gateway
