// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/gateway_settings.hpp"

#include "base/param.hpp"
#include "bridge/settings.hpp"

#include <algorithm>

namespace zipmpi::bridge {
namespace {

Param<int64_t> head{"gateway.eager_limit",
                    static_cast<int64_t>(2 * wire::frame_chunk),
                    {static_cast<int64_t>(wire::frame_chunk), 1 * GiB},
                    Unit::bytes,
                    Level::tuner,
                    Scope::job_wide,
                    "bytes of a message sent to another cluster before its receive is posted"};
Param<int64_t> retained{"gateway.retransmit_buffer",
                        8 * MiB,
                        {256 * KiB, 1 * GiB},
                        Unit::bytes,
                        Level::tuner,
                        Scope::local,
                        "bytes of unacknowledged messages kept per peer in another cluster"};
Param<int64_t> path_bytes{"gateway.rank_credit",
                          2 * MiB,
                          {256 * KiB, 1 * GiB},
                          Unit::bytes,
                          Level::tuner,
                          Scope::job_wide,
                          "bytes one rank may have buffered at a gateway"};
Param<int64_t> heartbeat_timeout_ms{"gateway.heartbeat_timeout_ms",
                                    1000,
                                    {50, 600000},
                                    Unit::none,
                                    Level::user,
                                    Scope::local,
                                    "a gateway without reply for this long is no longer used"};

// Used by gateways only; declared here so that ranks accept them.
Param<int64_t> pool{"gateway.buffer_limit",
                    64 * MiB,
                    {1 * MiB, 64 * GiB},
                    Unit::bytes,
                    Level::tuner,
                    Scope::job_wide,
                    "bytes a gateway may buffer in total"};
Param<int64_t> spin_us{"gateway.spin_us",
                       0,
                       {0, 1000000},
                       Unit::none,
                       Level::tuner,
                       Scope::local,
                       "microseconds a gateway polls before it sleeps"};

Param<bool> streams{"gateway.tcp_streams", true, Level::tuner, Scope::job_wide,
                    "use dedicated TCP connections instead of UCX between ranks and TCP-only gateways"};
Param<bool> report{"gateway.report", false, Level::user, Scope::local,
                   "print traffic totals of each gateway at the end of the job"};

constexpr uint64_t ms = 1'000'000;

} // namespace

uint64_t gateway_buffer_limit() { return static_cast<uint64_t>(pool.get()); }
bool gateway_prints_stats() { return report; }
bool uses_frame_streams() { return streams; }
uint64_t gateway_spin_ns() { return static_cast<uint64_t>(spin_us.get()) * 1000; }

EndpointLimits endpoint_limits() {
    EndpointLimits l;
    l.eager_bytes = static_cast<uint64_t>(head.get()) / wire::frame_chunk * wire::frame_chunk;
    l.retained = static_cast<uint64_t>(retained.get());
    l.ack_bytes = std::min(l.ack_bytes, l.retained / 2); // other ranks have the same setting, or wait 1 ms
    l.path_bytes = static_cast<uint64_t>(path_bytes.get());
    l.heartbeat_timeout_ns = static_cast<uint64_t>(heartbeat_timeout_ms.get()) * ms;
    l.heartbeat_ns = std::min(l.heartbeat_ns, l.heartbeat_timeout_ns / 3);
    l.partition_timeout_ns = static_cast<uint64_t>(partition_timeout_seconds()) * 1000 * ms;
    return l;
}

} // namespace zipmpi::bridge
