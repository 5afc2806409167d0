// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Authenticated encryption between two ranks whose link may be read or changed by others. The keys are
// derived from the end-to-end key, the two ranks and a salt of the sending process; there is no handshake.
// AES-256-GCM by OpenSSL, in the module.
#pragma once

#include "wire/frame_layout.hpp"
#include "wire/net_layout.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace zipmpi::transport::auth {

class Aead {
  public:
    // Data authenticated with a text.
    struct AeadContext {
        int32_t from, to;               // world ranks
        uint64_t salt;                  // of the sending process
        uint64_t sequence;              // unique per sending process and receiver
        std::span<const std::byte> aad; // sent in clear, authenticated
    };
    virtual ~Aead() = default;
    [[nodiscard]] virtual uint64_t salt() const = 0; // of this process
    // about.salt is that of this process. Encrypts head in place and data to `out`, which has room for
    // data.size() bytes.
    virtual bool seal(const AeadContext& about, std::span<std::byte> head, std::span<const std::byte> data,
                      std::byte* out, uint8_t (&tag)[wire::aead_tag_bytes]) = 0;
    // Decrypts a text of two segments, each to its destination, which may be in place. Returns false if
    // authentication fails; the output is then invalid.
    struct AeadSegment {
        std::span<const std::byte> from;
        std::byte* to;
    };
    virtual bool open(const AeadContext& about, AeadSegment first, AeadSegment second,
                      const uint8_t (&tag)[wire::aead_tag_bytes]) = 0;
};

} // namespace zipmpi::transport::auth
