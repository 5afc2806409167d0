// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Settings passed to a process at launch: initial error handler and memory allocation kinds. mpiexec and
// MPI_Comm_spawn pass them as environment variables.
#pragma once

#include "core/info/info.hpp"

#include <string>
#include <string_view>

namespace zipmpi::core {

struct Errhandler;
struct Session;

inline constexpr const char* initial_errhandler_key = "mpi_initial_errhandler";
inline constexpr const char* initial_errhandler_variable = "ZIPMPI_INITIAL_ERRHANDLER";
inline constexpr const char* memory_kinds_key = "mpi_memory_alloc_kinds";
inline constexpr const char* memory_kinds_variable = "ZIPMPI_MEMORY_ALLOC_KINDS";

// mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return. Valid before MPI_Init and after MPI_Finalize,
// too.
std::string initial_errhandler_name();
// Initial handler of MPI_COMM_WORLD and sessions, also used for errors outside of them.
Errhandler& initial_errhandler() noexcept;

// The supported subset of a list of memory kinds, in their order; "mpi" and "system" are always included. A
// kind with an unknown restrictor is omitted.
std::string supported_memory_kinds(std::string_view requested);

// Memory kinds of a session, or, without one, of the world model.
std::string memory_kinds_of(const Session* session);

// Adds both keys to the hints shown in info objects.
void add_launch_keys(Hints& hints);

} // namespace zipmpi::core
