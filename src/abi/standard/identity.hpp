// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The names that programs load the library by, and texts around that of MPI_Get_library_version.
#pragma once

#include <string_view>

namespace zipmpi::abi {

inline constexpr std::string_view library_names[] = {"libmpi_abi.so.1", "libmpi_abi.so.0"};
inline constexpr const char* library_prefix = "";
inline constexpr const char* library_suffix = " (MPI 5.0 standard ABI)";

} // namespace zipmpi::abi
