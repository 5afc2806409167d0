// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Starts the daemon of this host, or the daemons of other hosts.
#pragma once

#include "launch/protocol/messages.hpp"
#include "launch/tree/subtree.hpp"

namespace zipmpi::launch {

// signals: a descriptor of mpiexec that the daemon of this host, a forked child, closes.
bool start_daemons(const StartRequest& request, Subtree& subtree, os::Fd& signals, Diagnostic& why);

} // namespace zipmpi::launch
