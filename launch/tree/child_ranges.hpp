// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The shape of the launch tree.
#pragma once

#include "launch/protocol/messages.hpp"
#include "launch/tree/bootstrap.hpp"

#include <vector>

namespace zipmpi::launch {

// The daemons that a process starts for these nodes: each on the first node of its range, and it starts the
// others of that range.
std::vector<NodeRange> child_ranges(const LaunchTree& plan, NodeRange nodes);

} // namespace zipmpi::launch
