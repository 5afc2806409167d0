// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Names and addresses of processes. Names are global; the external ranks that a process assigns to processes
// of other jobs (from first_external on) are local to it.
#pragma once

#include "wire/external_rank.hpp"

#include <compare>
#include <cstdint>

namespace zipmpi::transport::stream {

struct ProcessName {
    uint64_t job = 0; // random id of the job; 0: that of the process that uses the name
    int32_t rank = 0; // in its MPI_COMM_WORLD
    int32_t unused = 0;
    friend auto operator<=>(const ProcessName&, const ProcessName&) = default;
};

struct TcpAddress {
    uint32_t address = 0; // IPv4, in network order
    uint16_t port = 0;    // network order
    uint16_t unused = 0;
};

// Published by a process to its peers; sent as raw bytes between processes of the same byte order.
struct ContactInfo {
    static constexpr uint32_t max_addresses = 8;
    ProcessName name;
    uint64_t host = 0;   // equal ids: same host and network namespace
    uint64_t socket = 0; // name in that host's abstract socket namespace
    uint32_t address_count = 0;
    uint32_t unused = 0;
    TcpAddress addresses[max_addresses];
};
static_assert(sizeof(ContactInfo) == 104);

} // namespace zipmpi::transport::stream
