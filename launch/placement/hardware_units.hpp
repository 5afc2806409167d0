// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The cores of a host and the hardware units that contain them: pure functions of a machine.
#pragma once

#include "launch/placement/placement_policy.hpp"

#include "hwtopo/machine.hpp"

#include <string_view>

namespace zipmpi::launch {

using CpuList = std::vector<int>; // numbers of hardware threads, as in the kernel

struct HostCores {
    std::vector<CpuList> cpus; // hardware threads of each core; adjacent cores have adjacent indices
    std::vector<hwtopo::Locality> localities; // of each core
    [[nodiscard]] size_t size() const { return cpus.size(); }
    [[nodiscard]] bool empty() const { return cpus.empty(); }
};

using CoreIndices = std::vector<uint32_t>; // indices into HostCores

// Only CPUs of `allowed` count. Without a topology each CPU is a core of one socket.
HostCores cores_of(const hwtopo::Machine& machine, const CpuList& allowed);
HostCores hwthreads_of(const HostCores& cores);                            // each hardware thread as a core
HostCores exclude_cpus(const HostCores& cores, const CpuList& taken);      // cores with none of these CPUs
HostCores restrict_to_cpus(const HostCores& cores, const CpuList& wanted); // the other CPUs are not used
HostCores merge_core_blocks(const HostCores& cores, const std::vector<CoreIndices>& blocks);
CpuList cpus_of(const HostCores& cores, const CoreIndices& which); // sorted
CpuList all_cpus(const HostCores& cores);                          // sorted

// For each core the number of its unit, counted from 0. Where there is no such unit (for example no
// third-level cache) the next smaller one counts, finally the core.
std::vector<uint32_t> unit_indices(const std::vector<hwtopo::Locality>& localities, Unit unit);
// These cores grouped by unit.
std::vector<CoreIndices> group_by_unit(const std::vector<hwtopo::Locality>& localities,
                                       const CoreIndices& members, Unit unit);
CoreIndices all_core_indices(const HostCores& cores);
uint32_t count_units(const HostCores& cores, Unit unit);

const char* unit_name(Unit unit);
bool parse_unit(std::string_view text, Unit& unit); // also "package", "hwthread", "L3", ...

// Parses "0-3,8"; false if it is not such a list. cpu_text() is the inverse.
bool parse_cpu_list(std::string_view text, CpuList& out);
std::string cpu_text(const CpuList& sorted);
struct CpuRun { // consecutive numbers
    int first;
    size_t count;
};
std::vector<CpuRun> cpu_runs(const CpuList& sorted);

// CPUs of a rank in a rank file: "1-3,5" are cores, "1:0-2" cores of socket 1, "0:*" all of socket 0; ';'
// separates several. Returns false and sets `wrong` to the offending text if it is not valid or names cores
// that do not exist.
bool parse_slots(std::string_view text, const HostCores& cores, CoreIndices& out, std::string& wrong);

} // namespace zipmpi::launch
