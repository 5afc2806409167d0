// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Opening and closing the network of a multi-host job.
#pragma once

#include "base/diagnostic.hpp"

namespace zipmpi::core {

struct Runtime;

// Opens the network and publishes the addresses of this rank. Does nothing and returns true if the job runs
// on one host. On failure returns false and sets `why`.
bool join_network(Runtime& e, Diagnostic& why);

} // namespace zipmpi::core
