// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Processes of other jobs ("worlds"): how they are called, and where they listen. Names are the same
// everywhere; the numbers by which a process knows others (proto's world ranks from first_foreign on) are its
// own.
#pragma once

#include "wire/foreign.hpp"

#include <compare>
#include <cstdint>

namespace zipmpi::worlds {

struct Name {
    uint64_t world = 0; // number of the job, drawn at random
    int32_t rank = 0;   // in its MPI_COMM_WORLD
    int32_t unused = 0;
    friend auto operator<=>(const Name&, const Name&) = default;
};

struct Endpoint {
    uint32_t address = 0; // IPv4, in network order
    uint16_t port = 0;    // likewise
    uint16_t unused = 0;
};

// What a process tells others of itself. Sent as it is between processes of one byte order.
struct Card {
    static constexpr uint32_t most_endpoints = 8;
    Name name;
    uint64_t host = 0;   // the same number: the same host and network namespace
    uint64_t socket = 0; // of that host's abstract namespace: which name
    uint32_t endpoints = 0;
    uint32_t unused = 0;
    Endpoint endpoint[most_endpoints];
};
static_assert(sizeof(Card) == 104);

using wire::first_foreign;
using wire::is_foreign;

} // namespace zipmpi::worlds
