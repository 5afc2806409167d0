// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Order of the messages of one peer. They are numbered, because UCX may deliver over several lanes; one that
// overtakes others is held back.
#pragma once

#include "transport/network.hpp"

#include <vector>

namespace zipmpi::transport::ucx {

struct UcxIncomingBulk : IncomingBulk {
    void* descriptor; // of UCX
    uint64_t bytes;
    bool scatters; // the device may write it to many segments
};

// A message that overtook one sent earlier.
struct ReorderedMessage {
    uint32_t number;
    std::string header;
    std::string data;
    UcxIncomingBulk* bytes; // of a rendezvous message
};

struct MessageOrder {
    uint32_t sent = 0; // so far
    uint32_t delivered = 0;
    std::vector<ReorderedMessage> reordered;
};

} // namespace zipmpi::transport::ucx
