// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The hang report: diagnosis, state of all ranks and a fix. A pure function.
#pragma once

#include "launch/report/snapshot.hpp"

#include <string>

namespace zipmpi::launch {

// idle_seconds: time without progress; 0 if the user requested the report.
std::string hang_report(const Snapshot& s, double idle_seconds = 0);

} // namespace zipmpi::launch
