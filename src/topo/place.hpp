// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Where on the machine a CPU or a rank is, and how near two ranks are to each other. Pure functions.
#pragma once

#include "topo/pair_class.hpp"
#include "wire/place_layout.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::topo {

using wire::Place;
using wire::several;

// One hardware thread: its number as the kernel counts, and the numbers of what it is part of.
struct CpuPlace {
    int cpu;
    Place place;
};

struct Machine {
    std::vector<CpuPlace> cpus; // neighbours next to each other
    uint64_t l2_bytes = 0;      // of one cache; 0: there is none, or it is not known
    uint64_t l3_bytes = 0;
};

// The place of a rank that may use these CPUs: a level that they do not all share is `several`.
Place place_of(const Machine& machine, const std::vector<int>& cpus);

PairClass pair_class(const Place& a, const Place& b);

// The cache that both of a pair write to and read from without going further out; 0: none.
uint64_t shared_cache_bytes(const Machine& machine, PairClass pair);

// Levels of the hardware from the whole machine to one hardware thread, with the names MPI_Comm_split_type is
// given for them in the info key mpi_hw_resource_type ("numanode", "hwloc://L3Cache", ...).
enum class Level : uint8_t { machine, package, numa, l3, l2, core, cpu };
inline constexpr Level levels[] = {Level::machine, Level::package, Level::numa, Level::l3,
                                   Level::l2,      Level::core,    Level::cpu};
const char* name(Level level); // "machine", "package", "numanode", "l3cache", "l2cache", "core", "pu"
bool level_named(std::string_view text, Level& level);
// Which one of that level a place is in; `several` if it is in no single one.
uint16_t index_at(const Place& place, Level level);

} // namespace zipmpi::topo
