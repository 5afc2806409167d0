// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The start of a job on many hosts, on a virtual clock: the launch tree, the start request that each daemon
// gets, one PMI fence of all ranks, and the addresses that they fetch from each other. Shape of the tree,
// bytes of messages, PMI servers and fences are those of the launcher (launch/tree, launch/protocol,
// launch/pmi). Also an agreement with the launcher's gathers and its sequence of events (launch/report).
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
    uint64_t request_bytes = 0; // of the longest start request
    uint64_t frames = 0;        // on connections of the tree
    uint64_t frame_bytes = 0;
    uint64_t pmi_replies = 0; // to ranks
    // Then the first rank of each node fetches the address of that of the next node.
    double address_ns = 0;               // until the last one has it
    uint64_t address_frames = 0;         // requests and replies on connections of the tree
    uint64_t address_frames_mpiexec = 0; // of these, received by mpiexec
    uint64_t addresses = 0;              // found
};

// An agreement of all ranks, as by MPIX_Comm_agree and MPIX_Comm_shrink, after the failure of some of them.
struct AgreementResult {
    double ns = 0;            // until the last rank has the result
    uint64_t frames_up = 0;   // contributions and failures on connections of the tree
    uint64_t frames_down = 0; // events for all
    uint64_t received = 0;    // frames that mpiexec receives
    uint64_t frame_bytes = 0;
    uint32_t failed = 0; // failed ranks, as the result says
    uint32_t value = 0;  // largest contribution
    uint64_t results = 0;
};

// failed_share N: ranks N - 1, 2 N - 1, ... fail before; 0: none.
AgreementResult simulate_agreement(const JobShape& shape, int failed_share, const LaunchCosts& costs,
                                   const NetworkModel& model);
LaunchResult simulate_launch(const JobShape& shape, const LaunchCosts& costs, const NetworkModel& model);

} // namespace zipmpi::sim
