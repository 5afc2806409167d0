// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/payload.hpp"

#include <algorithm>

namespace zipmpi::proto {

void copy_payload(const MessageArgs& from, const MessageArgs& to, uint64_t bytes) {
    if (to.layout == nullptr) return load_payload(from, 0, to.buffer, bytes);
    if (from.layout == nullptr) return store_payload(to, 0, from.buffer, bytes);
    std::byte packed[8192]; // fits in the L1 cache
    for (uint64_t done = 0; done < bytes;) {
        const uint64_t n = std::min<uint64_t>(sizeof packed, bytes - done);
        load_payload(from, done, packed, n);
        store_payload(to, done, packed, n);
        done += n;
    }
}

} // namespace zipmpi::proto
