// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Texts of --help and --version.
#pragma once

#include <string>

namespace zipmpi::launch {

// all: include the options of other launchers.
std::string help_text(bool all);
std::string version_text();

} // namespace zipmpi::launch
