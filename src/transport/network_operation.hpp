// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Base of the operations that the protocols give to a network (network.hpp).
#pragma once

namespace zipmpi::transport {

// Only its address is used below the protocols.
struct NetworkOperation {};

} // namespace zipmpi::transport
