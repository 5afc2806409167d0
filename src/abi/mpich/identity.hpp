// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Texts around that of MPI_Get_library_version: programs look for the name and version of the ABI.
#pragma once

namespace zipmpi::abi {

inline constexpr const char* library_prefix = "MPICH Version: 4.0.2 ABI of ";
inline constexpr const char* library_suffix = " (MPI 5.0)";

} // namespace zipmpi::abi
