// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Names of MPI functions by their number in the flight recorder.
#pragma once

#include "names/function_table.hpp"

#include <cstdint>
#include <string>

namespace zipmpi::launch {

inline std::string name_of_function(uint32_t id) {
    return id == 0 ? std::string() : names::function(id).name;
}

} // namespace zipmpi::launch
