// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Where the modules are that the library, mpiexec and the tools load on need.
#pragma once

#include <string>

namespace zipmpi::boot {

std::string module_path(const char* file);

// A program of this installation. Empty: it is not there.
std::string program_path(const char* file);

} // namespace zipmpi::boot
