// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// `zipmpi bench`: runs the installed comparison with other libraries (bench/compare).
#pragma once

#include <string>
#include <vector>

namespace zipmpi::tool {

// Returns an exit status only if it cannot be started.
int run_bench(const std::vector<std::string>& arguments);

} // namespace zipmpi::tool
