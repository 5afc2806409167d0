// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Parses the headers of messages from other hosts; no other code does.
#pragma once

#include "wire/net_layout.hpp"

#include <cstddef>
#include <cstring>
#include <span>

namespace zipmpi::transport::ucx {

// Returns false if the bytes are not a valid header. The caller checks the token.
inline bool read_header(std::span<const std::byte> bytes, wire::NetHeader& h,
                        std::span<const std::byte>& payload) {
    if (bytes.size() < sizeof h) return false;
    std::memcpy(&h, bytes.data(), sizeof h);
    payload = bytes.subspan(sizeof h);
    h.envelope.flags &= wire::flags_between_hosts;
    return payload.size() == h.envelope.inline_bytes && payload.size() <= wire::inline_max;
}

// Extracts the next message of a batch; `rest` becomes what follows it. Returns false if the bytes are not a
// valid batch.
inline bool next_in_batch(std::span<const std::byte>& rest, std::span<const std::byte>& header,
                          std::span<const std::byte>& data) {
    wire::BatchEntry entry{};
    wire::NetHeader h{};
    if (rest.size() < sizeof entry + sizeof h) return false;
    std::memcpy(&entry, rest.data(), sizeof entry);
    std::memcpy(&h, rest.data() + sizeof entry, sizeof h);
    rest = rest.subspan(sizeof entry);
    const size_t header_bytes = sizeof h + h.envelope.inline_bytes;
    if (rest.size() < header_bytes || rest.size() - header_bytes < entry.data_bytes) return false;
    header = rest.first(header_bytes);
    data = rest.subspan(header_bytes, entry.data_bytes);
    rest = rest.subspan(header_bytes + entry.data_bytes);
    return true;
}

} // namespace zipmpi::transport::ucx
