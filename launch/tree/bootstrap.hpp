// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a daemon reads from its standard input: who it is, the key of the job, and where its parent listens.
// It comes through the launch agent, which has proven who the user is; nothing secret is on a command line.
#pragma once

#include "launch/link/endpoint.hpp"
#include "launch/link/hello.hpp"

#include "base/problem.hpp"

namespace zipmpi::launch {

// A daemon and those below it: nodes from `node` to before `end`.
struct NodePlace {
    uint32_t node = 0;
    uint32_t end = 1;
};

struct Bootstrap {
    NodePlace place;
    JobKey key{};
    std::vector<Endpoint> parent;
    std::string job_id;
};

std::string encode(const Bootstrap& b); // with its length in front
bool read_bootstrap(int fd, int timeout_ms, Bootstrap& out);

// Tries all addresses at the same time; the first parent that proves itself is taken.
os::Fd connect_to_parent(const Bootstrap& b, int timeout_ms, Problem& why);

} // namespace zipmpi::launch
