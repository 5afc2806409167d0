// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Rendezvous messages that were announced, and messages that overtook others.
#pragma once

#include "transport/message_order.hpp"
#include "transport/network.hpp"

#include <memory>

namespace zipmpi::transport::ucx {

struct UcxIncomingBulk : IncomingBulk {
    void* descriptor; // of UCX
    uint64_t bytes;
    bool scatters; // the device may write it to many segments
};

// A message that overtook one sent earlier.
struct ReorderedMessage {
    std::string header;
    std::string data;
    std::unique_ptr<UcxIncomingBulk> bytes; // of a rendezvous message
};

} // namespace zipmpi::transport::ucx
