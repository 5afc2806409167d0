// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/comm/comm.hpp"

namespace zipmpi::core {

// One communicator per colour, ranks by key and then by rank in `comm`. Null for a process whose colour is
// undefined, or which on an intercommunicator only its own group has. Collective.
Err split(Comm& comm, int color, int key, Comm*& result);

} // namespace zipmpi::core
