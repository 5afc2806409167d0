// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Messages between ranks on different hosts: active messages whose header is a NetHeader with up to 40 bytes
// of payload, followed by data. Two ranks connect by one hello and one reply, which authenticate both with
// keys of the job. Little endian; docs/wire/network.md.
#pragma once

#include "wire/envelope.hpp"

#include <cstddef>
#include <cstdint>

namespace zipmpi::wire {

// Active message ids.
inline constexpr unsigned net_hello = 1;
inline constexpr unsigned net_hello_reply = 2;
inline constexpr unsigned net_message = 3;    // a whole message, or a protocol message
inline constexpr unsigned net_rendezvous = 4; // the data stays at the sender until it is requested
inline constexpr unsigned net_control = 7; // header and payload only, sent as data of the UCX active message
inline constexpr unsigned net_batch = 8;   // several messages, each as BatchEntry, header and data
inline constexpr unsigned net_frame = 16;  // token and frame to or from a gateway, see frame_layout.hpp
// Messages over TCP before the network is set up, to discover the devices that reach the other hosts.
inline constexpr unsigned net_probe = 5;
inline constexpr unsigned net_probe_reply = 6;

// Header of every message. The receiver issued the token in a hello or its reply, to one rank only; it
// authenticates the sender.
struct NetHeader {
    uint64_t token;
    uint32_t number; // of the message from this sender to this receiver, from 1
    Envelope envelope;
};
static_assert(sizeof(NetHeader) == 32);
inline constexpr size_t net_header_max = sizeof(NetHeader) + inline_max;

struct BatchEntry {
    uint32_t data_bytes; // after the header, whose length follows from its fields
};

inline constexpr uint32_t net_magic = 0x314e5a4d; // "MZN1"
inline constexpr size_t nonce_bytes = 16;
inline constexpr size_t mac_bytes = 32; // HMAC-SHA-256
inline constexpr size_t key_bytes = 32;
inline constexpr size_t net_address_max = 2048;

// The sender's address follows a hello. A reply has the nonce of its hello.
struct HandshakeMessage {
    uint32_t magic;
    uint16_t kind; // net_hello or net_hello_reply
    uint16_t address_bytes;
    int32_t from; // ranks in MPI_COMM_WORLD
    int32_t to;
    uint64_t token;             // for messages from `to` to `from`
    uint8_t nonce[nonce_bytes]; // the first 8 bytes increase from hello to hello
    uint8_t mac[mac_bytes];     // over all other bytes, with the key of the two
};
static_assert(sizeof(HandshakeMessage) == 72);

} // namespace zipmpi::wire
