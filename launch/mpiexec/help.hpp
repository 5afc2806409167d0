// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What --help and --version print.
#pragma once

#include <string>

namespace zipmpi::launch {

// all: the options of other launchers, too.
std::string help_text(bool all);
std::string version_text();

} // namespace zipmpi::launch
