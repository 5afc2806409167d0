// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/auth.hpp"

#include <algorithm>

namespace zipmpi {

Digest mac_of(std::span<const uint8_t> key, std::string_view text) {
    return hmac_sha256({reinterpret_cast<const char*>(key.data()), key.size()}, text);
}

bool is_mac_of(std::span<const uint8_t, sizeof(Digest)> mac, std::span<const uint8_t> key,
               std::string_view text) {
    Digest claimed;
    std::copy(mac.begin(), mac.end(), claimed.begin());
    return same_digest(claimed, mac_of(key, text));
}

} // namespace zipmpi
