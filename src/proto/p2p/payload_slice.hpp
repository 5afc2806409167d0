// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A range of a message to be packed into a cell.
#pragma once

#include "proto/p2p/payload.hpp"
#include "transport/transport.hpp"

namespace zipmpi::proto {

struct PayloadSlice {
    const MessageArgs& op;
    uint64_t from;
    uint64_t bytes;
    size_t window = 1; // slices of the message in flight at a time
    [[nodiscard]] transport::BulkSource bulk() const {
        if (op.layout == nullptr) return {op.buffer + from, bytes};
        return {nullptr, bytes,
                [](const void* subject, std::byte* to) {
                    const PayloadSlice& s = *static_cast<const PayloadSlice*>(subject);
                    load_payload(s.op, s.from, to, s.bytes);
                },
                this, window};
    }
};

} // namespace zipmpi::proto
