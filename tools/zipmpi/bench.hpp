// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// `zipmpi bench`: starts the comparison with other libraries (bench/compare), which is installed beside.
#pragma once

#include <string>
#include <vector>

namespace zipmpi::tool {

// Does not return if it can be started; else an exit status.
int run_bench(const std::vector<std::string>& arguments);

} // namespace zipmpi::tool
