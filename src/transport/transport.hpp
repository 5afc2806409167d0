// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The interface between protocols and transports: eight calls. A transport moves slots (an envelope and a few
// bytes) and bulk data of limited size to peers; it has no notion of communicators or requests. Calls never
// block. Dispatch is static: a protocol is compiled against the transports it uses.
//
// Threads: the progress engine that owns a transport serializes all calls.
#pragma once

#include "wire/envelope.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace zipmpi::transport {

using Peer = uint32_t; // index among the peers this transport reaches

enum class SendStatus {
    ok,
    would_block, // nothing was sent; try again after progress
    no_memory,   // the queue to the peer or the first buffer cannot be allocated: an error for the user
};

struct Caps {
    size_t inline_max; // payload of send_inline
    size_t inline_max_with_bulk;
    size_t bulk_max; // bulk data of send_bulk
};

// Source of bulk data: contiguous bytes, or a callback that writes them to their destination.
struct BulkSource {
    const std::byte* at; // null: call write
    size_t bytes;
    void (*write)(const void* subject, std::byte* to) = nullptr;
    const void* subject = nullptr;
    size_t buffers = 0; // cells to allocate before a just released one is reused

    void copy_to(std::byte* to) const {
        if (write != nullptr)
            write(subject, to);
        else
            std::memcpy(to, at, bytes);
    }
};

// One message delivered by poll(). bulk is null without bulk data; all memory is valid only during the call.
struct Arrival {
    Peer from;
    const wire::Envelope& envelope;
    const std::byte* payload; // envelope.inline_bytes bytes, checked by the transport
    const std::byte* bulk;
    size_t bulk_bytes;
};

template <class T>
concept Transport = requires(T t, Peer peer, const wire::Envelope& envelope, const std::byte* bytes, size_t n,
                             void (*sink)(const Arrival&), int64_t timeout_ns) {
    { T::name } -> std::convertible_to<std::string_view>;
    { t.caps() } -> std::same_as<const Caps&>;
    { t.peer_of(int{}) } -> std::same_as<int>; // world rank -> peer, or -1
    { t.send_inline(peer, envelope, bytes, n) } -> std::same_as<SendStatus>;
    { t.send_bulk(peer, envelope, bytes, n, BulkSource{}) } -> std::same_as<SendStatus>;
    { t.poll(sink) } -> std::same_as<int>; // messages delivered
    // Sleeping: arm(), poll and retry blocked sends once more; if nothing arrived, sleep(); always disarm().
    { t.arm() } -> std::same_as<uint32_t>;
    { t.sleep(uint32_t{}, timeout_ns) } -> std::same_as<bool>; // false: timed out
    { t.disarm() } -> std::same_as<void>;
};

} // namespace zipmpi::transport
