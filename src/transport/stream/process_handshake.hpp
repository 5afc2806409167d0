// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Mutual authentication of the two ends of a connection that share a key: hello, hello reply, confirmation.
// The key itself is never sent. Pure functions, called by connections between processes and by MPI ports.
#pragma once

#include "base/sha256.hpp"
#include "transport/stream/contact_info.hpp"

#include <string>
#include <string_view>

namespace zipmpi::transport::stream {

inline constexpr size_t key_bytes = 32;
inline constexpr size_t nonce_bytes = 16;

// Id by which a hello names its key.
uint64_t key_id(std::string_view key);
std::string random_bytes(size_t n);

// What follows the handshake, which both sides must agree on.
enum class HelloOptions : uint32_t { plain = 0, authenticated = 1U << 8, encrypted = 2U << 8 };

struct Hello {
    uint32_t magic;
    uint32_t version; // of the job protocol, and options
    uint64_t key;
    ProcessName from, to;
    uint8_t nonce[nonce_bytes];
    Digest mac;
};
static_assert(sizeof(Hello) == 96);

struct HelloReply {
    uint8_t nonce[nonce_bytes];
    Digest mac;
};
static_assert(sizeof(HelloReply) == 48);

struct Confirm {
    Digest mac;
};

// The dialing side sends make_hello, verifies the reply, and sends the confirmation. The other side verifies
// the hello, replies, and verifies the confirmation.
Hello make_hello(std::string_view key, const ProcessName& from, const ProcessName& to,
                 HelloOptions options = HelloOptions::plain);
// Plausibility check before the key is known.
bool is_hello(const Hello& hello, HelloOptions options = HelloOptions::plain);
bool is_authentic(const Hello& hello, std::string_view key);
HelloReply make_hello_reply(const Hello& hello, std::string_view key);
bool is_authentic(const Hello& hello, const HelloReply& reply, std::string_view key);
Confirm make_confirm(const Hello& hello, const HelloReply& reply, std::string_view key);
inline bool is_authentic(const Hello& hello, const HelloReply& reply, const Confirm& confirm,
                         std::string_view key) {
    return same_digest(confirm.mac, make_confirm(hello, reply, key).mac);
}
// Derives a key for subsequent connections that only these two processes can compute.
std::string connection_key(const Hello& hello, const HelloReply& reply, std::string_view key);

} // namespace zipmpi::transport::stream
