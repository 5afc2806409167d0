// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// `zipmpi metrics`: counters of the jobs on this host in the OpenMetrics format: once, in a file, or over
// HTTP on the loopback interface. Reads shared memory as `zipmpi top` does; the ranks are not involved.
#pragma once

#include <cstdint>
#include <string>

namespace zipmpi::tool {

struct MetricsOptions {
    std::string output;    // file that is replaced as a whole; empty: standard output
    uint16_t port = 0;     // of 127.0.0.1; 0: no server
    double interval = 0;   // of the file in seconds; 0: once
    bool per_rank = false; // label each rank, at most 1024 per job
};
int run_metrics(const MetricsOptions& options);

} // namespace zipmpi::tool
