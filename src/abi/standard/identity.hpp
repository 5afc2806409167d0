// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Texts around that of MPI_Get_library_version.
#pragma once

namespace zipmpi::abi {

inline constexpr const char* library_prefix = "";
inline constexpr const char* library_suffix = " (MPI 5.0 standard ABI)";

} // namespace zipmpi::abi
