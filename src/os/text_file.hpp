// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Short text files, as those of /sys.
#pragma once

#include <string>

namespace zipmpi::os {

std::string first_line(const std::string& path); // without its end; empty: the file cannot be read

} // namespace zipmpi::os
