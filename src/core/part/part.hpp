// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/request/request.hpp"

namespace zipmpi::core {

// Starts a request made by psend_init or precv_init.
void start_partitioned(Request& request);

} // namespace zipmpi::core
