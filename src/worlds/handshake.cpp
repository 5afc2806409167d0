// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "worlds/handshake.hpp"

#include "os/random.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace zipmpi::worlds {
namespace {

constexpr uint32_t magic = 0x31575a4d; // "MZW1"
constexpr uint32_t version = 1;

std::string said(const char* what, const Hello& hello) {
    Hello text = hello;
    text.proof = {};
    return std::string(what) + std::string(reinterpret_cast<const char*>(&text), sizeof text);
}

std::string said(const char* what, const Hello& hello, const Welcome& welcome) {
    return said(what, hello) + std::string(reinterpret_cast<const char*>(welcome.nonce), nonce_bytes);
}

} // namespace

uint64_t number_of(const std::string& key) {
    const Digest d = hmac_sha256(key, "number");
    uint64_t number = 0;
    std::memcpy(&number, d.data(), sizeof number);
    return number;
}

std::string random_bytes(size_t n) {
    std::string bytes(n, '\0');
    if (!os::fill_random(bytes.data(), n)) { // whatever is used instead could be guessed
        std::fputs("zipmpi: the kernel gives no random bytes, so jobs cannot be joined\n", stderr);
        std::abort();
    }
    return bytes;
}

Hello make_hello(const std::string& key, const Name& from, const Name& to) {
    Hello h{};
    h.magic = magic;
    h.version = version;
    h.key = number_of(key);
    h.from = from;
    h.to = to;
    std::memcpy(h.nonce, random_bytes(nonce_bytes).data(), nonce_bytes);
    h.proof = hmac_sha256(key, said("hello", h));
    return h;
}

bool is_hello(const Hello& hello) { return hello.magic == magic && hello.version == version; }

bool is_proven(const Hello& hello, const std::string& key) {
    return same_digest(hello.proof, hmac_sha256(key, said("hello", hello)));
}

Welcome make_welcome(const Hello& hello, const std::string& key) {
    Welcome w{};
    std::memcpy(w.nonce, random_bytes(nonce_bytes).data(), nonce_bytes);
    w.proof = hmac_sha256(key, said("welcome", hello, w));
    return w;
}

bool is_proven(const Hello& hello, const Welcome& welcome, const std::string& key) {
    return same_digest(welcome.proof, hmac_sha256(key, said("welcome", hello, welcome)));
}

Proof make_proof(const Hello& hello, const Welcome& welcome, const std::string& key) {
    return {hmac_sha256(key, said("proof", hello, welcome))};
}

std::string next_key(const Hello& hello, const Welcome& welcome, const std::string& key) {
    return std::string(view(hmac_sha256(key, said("next key", hello, welcome))));
}

} // namespace zipmpi::worlds
