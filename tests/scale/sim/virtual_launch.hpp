// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The start of a job on many hosts, on a virtual clock: the launch tree, the start request that each daemon
// gets, and one PMI fence of all ranks. Shape of the tree, bytes of the request, PMI servers and fences are
// those of the launcher (launch/tree, launch/protocol, launch/pmi).
#pragma once

#include "network_model.hpp"
#include "virtual_job.hpp"

namespace zipmpi::sim {

// Times of one process in nanoseconds; the defaults are assumed, not measured.
struct LaunchCosts {
    double agent = 2e6;    // to start a launch agent; a process starts its children one after the other
    double connect = 15e6; // until the daemon that it starts is connected and authenticated
    double rank = 0.7e6;   // to start a rank
    double frame = 50e3;   // to receive and send one control frame
};

struct LaunchResult {
    double ranks_ns = 0; // until the last rank has started
    double fence_ns = 0; // until the last rank has left the fence
    uint32_t depth = 0;
    uint32_t most_children = 0;
    uint64_t request_bytes = 0; // of the start request, which every daemon gets
    uint64_t frames = 0;        // on connections of the tree
    uint64_t frame_bytes = 0;
    uint64_t pmi_replies = 0; // to ranks
};

LaunchResult simulate_launch(const JobShape& shape, const LaunchCosts& costs, const NetworkModel& model);

} // namespace zipmpi::sim
