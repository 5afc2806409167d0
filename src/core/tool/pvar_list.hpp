// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The performance variables and the sources of their values.
#pragma once

#include "core/api/tool.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace zipmpi::core::tool {

struct PvarEntry {
    enum class Source {
        counter,    // of the rank, base/counters.hpp
        unexpected, // length of the unexpected queue
        traffic,    // bytes and messages sent to each rank, segment/traffic.hpp
    };
    std::string name;
    std::string help;
    PvarFlags flags;
    Binding binding = Binding::none;
    Source source = Source::counter;
    uint32_t which = 0; // index within its source
};

const std::vector<PvarEntry>& pvar_list();

// Values since the rank started: one for each of these ranks of MPI_COMM_WORLD, or one if the variable is not
// bound.
std::vector<uint64_t> values_of(const PvarEntry& variable, const std::vector<int>& ranks);

} // namespace zipmpi::core::tool
