// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Random bytes for nonces, tokens and keys of connections.
#pragma once

#include "os/random.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
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

} // namespace zipmpi::transport::auth
