// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What travels between two ranks on different hosts: active messages whose header is a NetHeader with up to
// 40 bytes of payload, and whose data is the rest. Two ranks get to know each other by one hello and one
// welcome, in which both prove that they have the key of the job. Little endian; docs/wire/network.md.
#pragma once

#include "wire/envelope.hpp"

#include <cstddef>
#include <cstdint>

namespace zipmpi::wire {

// Kinds of active messages.
inline constexpr unsigned net_hello = 1;
inline constexpr unsigned net_welcome = 2;
inline constexpr unsigned net_message = 3; // the whole message, or a line of a protocol
inline constexpr unsigned net_long = 4;    // a message that stays at the sender until it is asked for
inline constexpr unsigned net_line =
    7; // a header with its payload and nothing else: as data of UCX's message
inline constexpr unsigned net_batch = 8; // several messages: of each a BatchEntry, its header and its data
inline constexpr unsigned net_frame =
    16; // a frame to or from a gateway: a pass before it, see frame_layout.hpp
// Greetings over TCP, before there is a network: which devices lead to the other hosts.
inline constexpr unsigned net_probe = 5;
inline constexpr unsigned net_probe_answer = 6;

// Before every message. The pass was given out by the receiver in a hello or a welcome, to one rank only: who
// has it has proven who it is.
struct NetHeader {
    uint64_t pass;
    uint32_t number; // of the message among those between two ranks in one direction, from 1
    Envelope envelope;
};
static_assert(sizeof(NetHeader) == 32);
inline constexpr size_t net_header_max = sizeof(NetHeader) + inline_max;

struct BatchEntry {
    uint32_t data_bytes; // after the header, whose length the header itself says
};

inline constexpr uint32_t net_magic = 0x314e5a4d; // "MZN1"
inline constexpr size_t nonce_bytes = 16;
inline constexpr size_t proof_bytes = 32; // HMAC-SHA-256
inline constexpr size_t job_key_bytes = 32;
inline constexpr size_t net_address_max = 2048;

// A hello is followed by the address of its sender. A welcome has the nonce of the hello that it answers.
struct Greeting {
    uint32_t magic;
    uint16_t kind; // net_hello or net_welcome
    uint16_t address_bytes;
    int32_t from; // ranks in MPI_COMM_WORLD
    int32_t to;
    uint64_t pass;              // for messages of `to` to `from`
    uint8_t nonce[nonce_bytes]; // the first 8 bytes rise from hello to hello
    uint8_t proof[proof_bytes]; // of all the rest, with the key of the job
};
static_assert(sizeof(Greeting) == 72);

} // namespace zipmpi::wire
