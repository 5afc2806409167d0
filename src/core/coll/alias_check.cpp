// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/coll/alias_check.hpp"

namespace zipmpi::core {

Err alias_error(const void* address) {
    return fail(Err::buffer, "pass MPI_IN_PLACE, or two different buffers",
                "send and receive buffer have the same address, %p", address);
}

} // namespace zipmpi::core
