// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Paths of loadable modules and programs of this installation, for the library, mpiexec and the tools.
#pragma once

#include <string>

namespace zipmpi::boot {

std::string module_path(const char* file);

// Path of a program of this installation. Empty: not found.
std::string program_path(const char* file);

} // namespace zipmpi::boot
