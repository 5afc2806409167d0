// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/rendezvous_recv.hpp"

#include "os/clock.hpp"
#include "proto/p2p/payload.hpp"
#include "proto/p2p/rendezvous_event.hpp"

#include <algorithm>
#include <iterator>

namespace zipmpi::proto {

void RendezvousReceiver::accept(Operation& recv, const IncomingMessage& message) {
    if (coop_.start(recv, message)) return;
    if (copy_from_arena(recv, message) || copy_by_cma(recv, message)) {
        replier_.acknowledge(message);
        return completion_.finish(recv);
    }
    raise_rendezvous_copy(node_.events, recv, RendezvousPath::fragments);
    fragments_.request(recv, message);
}

bool RendezvousReceiver::copy_from_arena(const Operation& recv, const IncomingMessage& message) {
    if (message.arena_offset == 0) return false;
    const std::byte* const from = node_.arena.view(message.from, message.arena_offset, message.bytes);
    if (from == nullptr) return false;
    store_payload(recv, 0, from, recv.received);
    node_.counters().add(Counter::arena_copies);
    raise_rendezvous_copy(node_.events, recv, RendezvousPath::arena);
    return true;
}

bool RendezvousReceiver::copy_by_cma(const Operation& recv, const IncomingMessage& message) {
    if (message.address == 0 || message.has_layout) return false; // the sender's buffer is noncontiguous
    const Thresholds& t = paths_.thresholds(message.from);
    CmaHeuristic* const heuristic = paths_.cma_heuristic(message.from);
    if (recv.received < t.cma_min || recv.received > t.cma_max) return false;
    if (heuristic != nullptr && !heuristic->should_try()) return false;
    const uint64_t begin = os::now_ns();
    if (!read_from_sender(recv, message)) return false;
    if (heuristic != nullptr) heuristic->record(t, recv.received, os::now_ns() - begin);
    node_.counters().add(Counter::cma_copies);
    raise_rendezvous_copy(node_.events, recv, RendezvousPath::cma);
    return true;
}

// CMA read. Into a noncontiguous buffer: long segments are scattered by the kernel; short ones are cheaper to
// read into a cached staging buffer and unpack.
bool RendezvousReceiver::read_from_sender(const Operation& recv, const IncomingMessage& message) {
    if (recv.layout == nullptr)
        return node_.cma.read(message.from, message.address, recv.buffer, recv.received);
    constexpr uint64_t max_bytes_per_call = uint64_t{1} << 30;
    // From this size on an iovec entry costs less than copying the segment.
    constexpr int64_t long_segment = 1024;
    const bool scatter = recv.layout->size >= long_segment * recv.layout->runs;
    iovec iov[64];
    for (uint64_t done = 0, n = 0; done < recv.received; done += n) {
        const uint64_t left = std::min(recv.received - done, max_bytes_per_call);
        if (scatter) {
            const size_t used = packing::list_iov(*recv.layout, recv.buffer, recv.elements,
                                                  recv.first_byte + done, left, iov, std::size(iov), n);
            if (!node_.cma.read(message.from, message.address + done, iov, used, n)) return false;
        } else {
            n = std::min<uint64_t>(node_.shm.caps().bulk_max, left);
            std::byte* const packed = staging_.reserve(n);
            if (!node_.cma.read(message.from, message.address + done, packed, n)) return false;
            store_payload(recv, done, packed, n);
        }
    }
    return true;
}

} // namespace zipmpi::proto
