// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Localities of CPUs and ranks in the hardware tree, and pair classes of rank pairs. Pure functions.
#pragma once

#include "hwtopo/pair_class.hpp"
#include "wire/locality_layout.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::hwtopo {

using wire::Locality;
using wire::spans_several;

// One hardware thread: its OS index and its locality.
struct CpuLocality {
    int cpu;
    Locality locality;
};

struct Machine {
    std::vector<CpuLocality> cpus; // in hardware order
    uint64_t l2_bytes = 0;         // of one cache; 0: none or unknown
    uint64_t l3_bytes = 0;
};

// Locality of a rank that may use these CPUs; a level that they do not all share is `spans_several`.
Locality locality_of(const Machine& machine, const std::vector<int>& cpus);

PairClass pair_class(const Locality& a, const Locality& b);

// Size of the innermost cache shared by a pair of this class; 0: none.
uint64_t shared_cache_bytes(const Machine& machine, PairClass pair);

// Hardware levels from the whole machine to one hardware thread. Their names are values of the info key
// mpi_hw_resource_type of MPI_Comm_split_type ("numanode", "hwloc://L3Cache", ...).
enum class Level : uint8_t { machine, package, numa, l3, l2, core, cpu };
inline constexpr Level levels[] = {Level::machine, Level::package, Level::numa, Level::l3,
                                   Level::l2,      Level::core,    Level::cpu};
const char* name(Level level); // "machine", "package", "numanode", "l3cache", "l2cache", "core", "pu"
bool parse_level(std::string_view text, Level& level);
// Index of the object of that level that contains the locality; `spans_several` if there is no single one.
uint16_t index_at(const Locality& locality, Level level);

} // namespace zipmpi::hwtopo
