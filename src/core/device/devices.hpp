// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which drivers of devices the process has loaded. A program may load its driver after MPI_Init; on a host
// with a device, calls with buffers therefore look for one again after each library that was loaded.
#pragma once

#include "core/device/driver.hpp"

#include <string_view>

namespace zipmpi::core::device {

// Called during MPI_Init, after the parameters are known.
void watch_drivers();

// The driver that owns the memory. Null: host memory.
Driver* driver_of(const void* address);

// Whether buffers may have this kind of mpi_memory_alloc_kinds: cuda, rocm or level_zero. Its driver is
// loaded, or the host has a device of this kind. May be called before MPI_Init.
bool supports(std::string_view memory_kind);

// Whether the memory kind of a device may have this restrictor.
bool is_restrictor(std::string_view memory_kind, std::string_view restrictor);

} // namespace zipmpi::core::device
