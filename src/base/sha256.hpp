// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// SHA-256 and HMAC-SHA-256 (FIPS 180-4, RFC 2104), for authentication between daemons, ranks and processes
// of different jobs. Library and launcher do not link OpenSSL, which loads and relocates megabytes. A few
// microseconds per code; not for bulk data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace zipmpi {

using Digest = std::array<uint8_t, 32>;

Digest sha256(std::string_view bytes);
Digest hmac_sha256(std::string_view key, std::string_view bytes);
// Constant-time comparison.
bool same_digest(const Digest& a, const Digest& b);

inline std::string_view view(const Digest& d) { return {reinterpret_cast<const char*>(d.data()), d.size()}; }

} // namespace zipmpi
