// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Joining and leaving the network, for a job on several hosts.
#pragma once

#include "base/problem.hpp"

namespace zipmpi::core {

struct Engine;

// Opens the network and publishes where this rank is reached. True without doing anything if the job lives on
// one host. False: why says what is wrong.
bool join_network(Engine& e, Problem& why);

} // namespace zipmpi::core
