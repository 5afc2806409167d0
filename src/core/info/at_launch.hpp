// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What is asked of the library when a process is launched: the initial error handler and the kinds of memory
// that the program uses. mpiexec and MPI_Comm_spawn pass them as environment variables.
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

// mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return. Also before MPI_Init and after MPI_Finalize.
std::string initial_errhandler_name();
// What the world and sessions start with, and what errors outside of them meet.
Errhandler& initial_errhandler() noexcept;

// Those of a list of kinds that are supported, in their order; "mpi" and "system" are always there. A kind
// with a restrictor that is not known is left out.
std::string supported_memory_kinds(std::string_view requested);

// For what comes from a session, or, without one, from the world.
std::string memory_kinds_of(const Session* session);

// Both, as info objects show them.
void add_launch_keys(Hints& hints);

} // namespace zipmpi::core
