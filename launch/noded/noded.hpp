// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The node daemon: starts the ranks of one host, serves them, collects their output, and ensures that none
// outlives the job. Its only connection is the socket to its parent (mpiexec or another daemon); when that
// closes, it kills everything immediately.
#pragma once

#include "launch/tree/bootstrap.hpp"

namespace zipmpi::launch {

// Runs the daemon; returns its exit status. Called in a dedicated process without other threads. secret:
// null for a daemon on the host of mpiexec, connected by a socket pair; wiped.
int noded_main(ParentConnection parent, NodeRange range, JobKey* secret);

} // namespace zipmpi::launch
