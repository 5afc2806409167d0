// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Functions that the tables list without a target. Their arguments are ignored, except the handle that
// determines the error handler.
#pragma once

#include "abi/mpi_abi.hpp"

#include <cstdint>

namespace zipmpi::abi {

[[gnu::cold]] int unsupported(uint32_t function, bool anytime) noexcept;
[[gnu::cold]] int unsupported(uint32_t function, bool anytime, MPI_Comm comm) noexcept;
[[gnu::cold]] int unsupported(uint32_t function, bool anytime, MPI_Session session) noexcept;

} // namespace zipmpi::abi
