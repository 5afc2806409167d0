// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Loadable modules and programs of this installation, for the library, mpiexec and the tools.
#pragma once

#include <string>

namespace zipmpi::os {

std::string module_path(const char* file);

// Path of a program of this installation. Empty: not found.
std::string program_path(const char* file);

// Loads a module, which stays loaded, and looks up a symbol. Returns null on failure, with the reason in why.
void* load_symbol(const std::string& module, const char* symbol, std::string& why);

} // namespace zipmpi::os
