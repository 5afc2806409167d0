// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The node daemon: starts the ranks of one host, serves them, collects their output, and sees to it that none
// outlives the job. It talks to its parent (mpiexec, or a daemon above it) over one socket only; if that
// closes, everything is killed at once.
#pragma once

#include "launch/tree/bootstrap.hpp"

namespace zipmpi::launch {

// The life of the daemon; returns its exit status. Called in a process of its own, without other threads.
// key: null for a daemon on the host of mpiexec, connected by a socket pair.
int noded_main(os::Fd socket, NodePlace place, const JobKey* key);

} // namespace zipmpi::launch
