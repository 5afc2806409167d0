// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Two bridge endpoints (src/bridge/endpoint.hpp) that exchange a few messages over two virtual gateways, on
// a virtual clock. A run is deterministic: frames arrive in one order, and each arrival is a point at which
// one fault can be placed.
//
// Checked in each run:
//   - every message arrives once, in order, with its bytes;
//   - every send and every receive completes once, and with success unless the peer was killed;
//   - everything completes within 25 s of virtual time;
//   - each side can disconnect once it is idle, and the other one becomes idle after that;
//   - no event after the peer's failure touches memory of completed operations (with ASan).
#pragma once

#include "bridge/endpoint.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace zipmpi::bridge::explore {

enum class Fault {
    lost_behind_gateway,  // the gateway acknowledges the frame and loses it
    lost_before_gateway,  // the frame does not reach the gateway
    duplicated,           // the frame arrives a second time, 400 ms later
    late,                 // the frame arrives 1.3 s later
    gateway_restarts,     // both sides lose the connection and have it back after 700 ms
    gateway_hangs,        // silence for 5 s, then a restart
    one_side_disconnects, // the sender alone loses its connection for 300 ms
    peer_killed,          // the receiver dies; the sender is notified 2 ms later
};
inline constexpr int fault_kinds = 8;
const char* name(Fault fault);

struct PlacedFault {
    int point; // number of the arrival
    Fault fault;
};

struct Scenario {
    const char* name;
    struct Send {
        int side;
        uint64_t bytes;
    };
    std::vector<Send> sends;
    bool receives_late; // long messages are announced (RTS) 3 ms before a receive is posted
};
const std::vector<Scenario>& scenarios();

struct Result {
    int points = 0;        // points at which a fault could have been placed
    std::string violation; // empty: none
};
Result run(const Scenario& scenario, const std::vector<PlacedFault>& faults);

} // namespace zipmpi::bridge::explore
