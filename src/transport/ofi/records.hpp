// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Parses the records of messages; no other code does.
#pragma once

#include "wire/ofi_layout.hpp"

#include <cstring>
#include <span>

namespace zipmpi::transport::ofi {

struct Record {
    wire::OfiRecord head{};
    std::span<const std::byte> payload;
    std::span<const std::byte> data;
};

// Extracts the next record; `rest` becomes what follows it. Returns false if the bytes are not a valid
// record.
inline bool next_record(std::span<const std::byte>& rest, Record& record) {
    wire::OfiRecord& head = record.head;
    if (rest.size() < sizeof head) return false;
    std::memcpy(&head, rest.data(), sizeof head);
    const size_t payload_bytes = head.envelope.inline_bytes;
    const auto body = rest.subspan(sizeof head);
    if (payload_bytes > wire::inline_max || body.size() < payload_bytes ||
        body.size() - payload_bytes < head.data_bytes)
        return false;
    head.envelope.flags &= wire::flags_between_hosts;
    record.payload = body.first(payload_bytes);
    record.data = body.subspan(payload_bytes, head.data_bytes);
    rest = body.subspan(payload_bytes + head.data_bytes);
    return true;
}

} // namespace zipmpi::transport::ofi
