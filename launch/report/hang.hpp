// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The hang report: who is where, who waits for whom, and a verdict. A pure function.
#pragma once

#include "launch/report/snapshot.hpp"

#include <string>

namespace zipmpi::launch {

std::string hang_report(const Snapshot& s);

} // namespace zipmpi::launch
