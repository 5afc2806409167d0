// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What all receivers of active messages check first.
#pragma once

#include "transport/poll_counters.hpp"

#include <cstddef>
#include <span>
#include <ucp/api/ucp.h>

namespace zipmpi::transport::ucx {

inline bool is_rendezvous(const ucp_am_recv_param_t* param) {
    return (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
}

// Counts a message. Returns false, and counts it as rejected, if the data is still at the sender: only for
// messages that peers of this job never send by rendezvous.
inline bool count_eager(PollCounters& counters, const ucp_am_recv_param_t* param) {
    ++counters.events;
    if (!is_rendezvous(param)) return true;
    ++counters.rejected_messages;
    return false;
}

inline std::span<const std::byte> bytes_at(const void* bytes, size_t length) {
    return {static_cast<const std::byte*>(bytes), length};
}

} // namespace zipmpi::transport::ucx
