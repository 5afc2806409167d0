// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The performance variables that there are, and where their values come from.
#pragma once

#include "core/tool/tool.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace zipmpi::core::tool {

struct PvarEntry {
    enum class Source {
        counter, // of the rank, base/counters.hpp
        waiting, // messages that wait for a receive
        traffic, // what was sent to each rank, boot/traffic.hpp
    };
    std::string name;
    std::string help;
    PvarMarks marks;
    Binding binding = Binding::none;
    Source source = Source::counter;
    uint32_t which = 0; // of several from one source
};

const std::vector<PvarEntry>& pvar_list();

// The values since the rank started, one for each of these ranks of MPI_COMM_WORLD, or one if the variable is
// bound to nothing.
std::vector<uint64_t> values_of(const PvarEntry& variable, const std::vector<int>& ranks);

} // namespace zipmpi::core::tool
