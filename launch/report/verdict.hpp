// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What is wrong with a job that does not move: looks for the one thing that explains it.
#pragma once

#include "launch/report/snapshot.hpp"

#include <string>
#include <vector>

namespace zipmpi::launch {

// The lines that name the cause; one line saying that none was found if so.
std::vector<std::string> verdict(const Snapshot& s);

} // namespace zipmpi::launch
