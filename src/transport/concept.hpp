// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The boundary between protocols and transports: nine calls. A transport moves lines (an envelope and a few
// bytes) and bulk parts of limited size to peers of the same kind of place; it knows neither communicators
// nor requests. Calls never block. Dispatch is static: a protocol is compiled against the transports it uses.
//
// Threads: the lane that owns a transport serialises all calls.
#pragma once

#include "wire/envelope.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace zipmpi::transport {

using Peer = uint32_t; // index among the peers this transport reaches

enum class Sent {
    ok,
    would_block, // nothing was sent; try again after progress
    no_memory,   // the queue to the peer or the first buffer cannot be made: an error for the user
};

struct Caps {
    size_t inline_max; // payload of send_short
    size_t inline_max_with_bulk;
    size_t bulk_max; // bulk part of send_bulk
};

// The bulk part of a message: bytes in a row, or bytes that somebody writes where they are wanted.
struct Bulk {
    const std::byte* at; // null: write them
    size_t bytes;
    void (*write)(const void* subject, std::byte* to) = nullptr;
    const void* subject = nullptr;
    size_t buffers = 0; // of the sender, that are used before one whose reader has just left it

    void copy_to(std::byte* to) const {
        if (write != nullptr)
            write(subject, to);
        else
            std::memcpy(to, at, bytes);
    }
};

// What poll() hands up. bulk is null without a bulk part; all memory is valid during the call only.
struct Arrival {
    Peer from;
    const wire::Envelope& envelope;
    const std::byte* payload; // envelope.inline_bytes of them, checked by the transport
    const std::byte* bulk;
    size_t bulk_bytes;
};

template <class T>
concept Transport = requires(T t, Peer peer, const wire::Envelope& envelope, const std::byte* bytes, size_t n,
                             void (*sink)(const Arrival&), int64_t timeout_ns) {
    { T::name } -> std::convertible_to<std::string_view>;
    { t.caps() } -> std::same_as<const Caps&>;
    { t.reach(int{}) } -> std::same_as<int>; // world rank -> peer, or -1
    { t.send_short(peer, envelope, bytes, n) } -> std::same_as<Sent>;
    { t.send_bulk(peer, envelope, bytes, n, Bulk{}) } -> std::same_as<Sent>;
    { t.poll(sink) } -> std::same_as<int>; // lines delivered
    // Sleeping: arm(), then poll and retry what would block once more; nothing came: sleep(); in any case
    // disarm().
    { t.arm() } -> std::same_as<uint32_t>;
    { t.sleep(uint32_t{}, timeout_ns) } -> std::same_as<bool>; // false: the timeout ended it
    { t.disarm() } -> std::same_as<void>;
};

} // namespace zipmpi::transport
