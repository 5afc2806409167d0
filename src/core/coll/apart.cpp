// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/coll/apart.hpp"

namespace zipmpi::core {

Err same_place(const void* place) {
    return fail(Err::buffer, "pass MPI_IN_PLACE for the buffer that is not needed, or two buffers",
                "what is sent and what is received lie at the same address, %p", place);
}

} // namespace zipmpi::core
