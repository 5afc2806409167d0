// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Encryption of what two ranks say to each other over a link that others may read or change. The keys follow
// from the key of the job and the two ranks; there is no handshake. AES-256-GCM, by OpenSSL, in the module.
#pragma once

#include "wire/frame_layout.hpp"
#include "wire/net_layout.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace zipmpi::transport::ucx {

class Sealer {
  public:
    // What belongs to a text besides its bytes.
    struct About {
        int32_t from, to;                 // world ranks
        uint64_t number;                  // never the same twice from one rank to another
        std::span<const std::byte> shown; // travels readable, but cannot be changed
    };
    virtual ~Sealer() = default;
    // head is encrypted in place, data to `out`, which has room for as much.
    virtual bool seal(const About& about, std::span<std::byte> head, std::span<const std::byte> data,
                      std::byte* out, uint8_t (&tag)[wire::seal_tag_bytes]) = 0;
    // A text that lies in two parts, each opened to where it is wanted, which may be in place. False: this is
    // not what was sealed; what was written is worth nothing.
    struct Part {
        std::span<const std::byte> from;
        std::byte* to;
    };
    virtual bool open(const About& about, Part first, Part second,
                      const uint8_t (&tag)[wire::seal_tag_bytes]) = 0;
};

using OpenSealer = Sealer* (*)(std::span<const uint8_t, wire::job_key_bytes> key);
inline constexpr const char* open_sealer_symbol = "zipmpi_ucx_open_sealer_2";
// Null: why says so in words.
Sealer* open_sealer(std::span<const uint8_t, wire::job_key_bytes> key, std::string& why);

} // namespace zipmpi::transport::ucx
