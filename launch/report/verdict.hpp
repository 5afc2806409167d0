// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What is wrong with a job that does not move: looks for the one thing that explains it.
#pragma once

#include "launch/report/snapshot.hpp"

#include <string>
#include <vector>

namespace zipmpi::launch {

struct Verdict {
    std::vector<std::string>
        lines; // the cause; one line saying that none was found if so; none if nobody waits
    std::string todo;
};
Verdict verdict(const Snapshot& s);

} // namespace zipmpi::launch
