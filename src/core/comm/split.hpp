// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/comm/comm.hpp"

namespace zipmpi::core {

// One communicator per color, ordered by key and then by rank in `comm`. Null if the color is undefined, or,
// on an intercommunicator, if the color occurs only in the local group. Collective.
Err split(Comm& comm, int color, int key, Comm*& result);

} // namespace zipmpi::core
