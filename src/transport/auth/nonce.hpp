// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Random bytes for nonces, tokens and keys of connections.
#pragma once

#include "os/clock.hpp"
#include "os/random.hpp"
#include "wire/net_layout.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

namespace zipmpi::transport::auth {

inline void fill_random(std::span<uint8_t> bytes) {
    if (os::fill_random(bytes.data(), bytes.size())) return;
    // Any substitute would be predictable.
    std::fputs("zipmpi: the kernel provides no random bytes, so peers cannot be authenticated\n", stderr);
    std::abort();
}

inline uint64_t random_token() {
    uint64_t token = 0;
    fill_random({reinterpret_cast<uint8_t*>(&token), sizeof token});
    return token;
}

using Nonce = std::array<uint8_t, wire::nonce_bytes>;

// A nonce begins with a number that increases with every hello, also across restarts of a process on its
// host.
inline uint64_t hello_number(const uint8_t* nonce) {
    uint64_t number = 0;
    std::memcpy(&number, nonce, sizeof number);
    return number;
}

inline void renew(Nonce& nonce) {
    const uint64_t number = std::max(hello_number(nonce.data()) + 1, os::now_ns());
    std::memcpy(nonce.data(), &number, sizeof number);
    fill_random(std::span(nonce).subspan(sizeof number));
}

} // namespace zipmpi::transport::auth
