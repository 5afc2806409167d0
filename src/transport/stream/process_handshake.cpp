// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/stream/process_handshake.hpp"

#include "base/job_protocol.hpp"
#include "os/random.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace zipmpi::transport::stream {
namespace {

constexpr uint32_t magic = 0x31575a4d; // "MZW1"

std::string transcript(const char* what, const Hello& hello) {
    Hello text = hello;
    text.mac = {};
    return std::string(what) + std::string(reinterpret_cast<const char*>(&text), sizeof text);
}

std::string transcript(const char* what, const Hello& hello, const HelloReply& reply) {
    return transcript(what, hello) + std::string(reinterpret_cast<const char*>(reply.nonce), nonce_bytes);
}

} // namespace

uint64_t key_id(std::string_view key) {
    const Digest d = hmac_sha256(key, "number");
    uint64_t number = 0;
    std::memcpy(&number, d.data(), sizeof number);
    return number;
}

std::string random_bytes(size_t n) {
    std::string bytes(n, '\0');
    if (!os::fill_random(bytes.data(), n)) { // any substitute would be predictable
        std::fputs("zipmpi: the kernel provides no random bytes, so jobs cannot be connected\n", stderr);
        std::abort();
    }
    return bytes;
}

Hello make_hello(std::string_view key, const ProcessName& from, const ProcessName& to, HelloOptions options) {
    Hello h{};
    h.magic = magic;
    h.version = job_protocol | static_cast<uint32_t>(options);
    h.key = key_id(key);
    h.from = from;
    h.to = to;
    std::memcpy(h.nonce, random_bytes(nonce_bytes).data(), nonce_bytes);
    h.mac = hmac_sha256(key, transcript("hello", h));
    return h;
}

bool is_hello(const Hello& hello, HelloOptions options) {
    return hello.magic == magic && hello.version == (job_protocol | static_cast<uint32_t>(options));
}

bool is_authentic(const Hello& hello, std::string_view key) {
    return same_digest(hello.mac, hmac_sha256(key, transcript("hello", hello)));
}

HelloReply make_hello_reply(const Hello& hello, std::string_view key) {
    HelloReply w{};
    std::memcpy(w.nonce, random_bytes(nonce_bytes).data(), nonce_bytes);
    w.mac = hmac_sha256(key, transcript("welcome", hello, w));
    return w;
}

bool is_authentic(const Hello& hello, const HelloReply& reply, std::string_view key) {
    return same_digest(reply.mac, hmac_sha256(key, transcript("welcome", hello, reply)));
}

Confirm make_confirm(const Hello& hello, const HelloReply& reply, std::string_view key) {
    return {hmac_sha256(key, transcript("proof", hello, reply))};
}

std::string connection_key(const Hello& hello, const HelloReply& reply, std::string_view key) {
    return std::string(view(hmac_sha256(key, transcript("next key", hello, reply))));
}

} // namespace zipmpi::transport::stream
