// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The node daemon: starts the ranks of one host, serves them, collects their output, and sees to it that none
// outlives the job. It talks to mpiexec over one socket only; if that closes, everything is killed at once.
#pragma once

#include "os/fd.hpp"

namespace zipmpi::launch {

// The life of the daemon; returns its exit status. Called in a process of its own, without other threads.
int noded_main(os::Fd socket);

} // namespace zipmpi::launch
