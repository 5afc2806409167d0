// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Names of MPI functions by their number in the flight recorder.
#pragma once

#include <cstdint>
#include <string>

#ifdef ZIPMPI_HAVE_NAMES
#include "names/function_table.hpp"
#endif

namespace zipmpi::launch {

inline std::string name_of_function(uint32_t id) {
    if (id == 0) return {};
#ifdef ZIPMPI_HAVE_NAMES
    if (const char* name = zipmpi::function_name(id); name != nullptr && *name != '\0') return name;
#endif
    return "MPI function number " + std::to_string(id);
}

} // namespace zipmpi::launch
