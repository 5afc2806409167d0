// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Finds the most likely cause of a hang from a snapshot of all ranks.
#pragma once

#include "launch/report/snapshot.hpp"

#include <string>
#include <vector>

namespace zipmpi::launch {

struct HangDiagnosis {
    std::vector<std::string> lines; // the causes; one line if none was found; empty if no rank waits
    std::string fix;
};
HangDiagnosis diagnose_hang(const Snapshot& s);

} // namespace zipmpi::launch
