// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The hang report: a verdict, who is where and waits for whom, and what to do. A pure function.
#pragma once

#include "launch/report/snapshot.hpp"

#include <string>

namespace zipmpi::launch {

// still_seconds: for how long nothing has moved; 0 = not known, somebody has asked.
std::string hang_report(const Snapshot& s, double still_seconds = 0);

} // namespace zipmpi::launch
