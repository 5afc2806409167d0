// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The names that programs load the library by, and texts around that of MPI_Get_library_version: programs
// look for the name and version of the ABI.
#pragma once

#include <string_view>

namespace zipmpi::abi {

inline constexpr std::string_view library_names[] = {"libmpich.so.12", "libmpi.so.12"};
inline constexpr const char* library_prefix = "MPICH Version: 4.0.2 ABI of ";
inline constexpr const char* library_suffix = " (MPI 5.0)";

} // namespace zipmpi::abi
