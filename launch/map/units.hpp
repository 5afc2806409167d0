// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The cores of a host and the parts of the hardware that hold them: pure functions of a machine.
#pragma once

#include "launch/map/policy.hpp"

#include "topo/place.hpp"

#include <string_view>

namespace zipmpi::launch {

using CpuList = std::vector<int>; // numbers of hardware threads, as the kernel counts them

struct HostCores {
    std::vector<CpuList> cpus;       // the hardware threads of each core, neighbors next to each other
    std::vector<topo::Place> places; // of each core
    [[nodiscard]] size_t size() const { return cpus.size(); }
    [[nodiscard]] bool empty() const { return cpus.empty(); }
};

using CoreNumbers = std::vector<uint32_t>; // indices into HostCores

// Only CPUs of `allowed` count. Without a topology each of them is a core of one socket.
HostCores cores_of(const topo::Machine& machine, const CpuList& allowed);
HostCores hwthreads_of(const HostCores& cores);                  // each of them like a core
HostCores without(const HostCores& cores, const CpuList& taken); // cores with none of these CPUs
HostCores only(const HostCores& cores, const CpuList& wanted);   // the rest is not used
HostCores bundles_of(const HostCores& cores, const std::vector<CoreNumbers>& bundles);
CpuList cpus_of(const HostCores& cores, const CoreNumbers& which); // sorted
CpuList all_cpus(const HostCores& cores);                          // sorted

// For each core the number of the unit it is in, counted from 0 in their order. Where there is no such unit
// (no third-level cache) the next smaller one counts, at last the core itself.
std::vector<uint32_t> units_of(const std::vector<topo::Place>& places, Unit unit);
// These cores by the units that they are in.
std::vector<CoreNumbers> groups_of(const std::vector<topo::Place>& places, const CoreNumbers& members,
                                   Unit unit);
CoreNumbers all_of(const HostCores& cores);
uint32_t count_units(const HostCores& cores, Unit unit);

const char* name(Unit unit);
bool unit_named(std::string_view text, Unit& unit); // also "package", "hwthread", "L3", ...

// "0-3,8": false if it is something else. cpu_text() writes it.
bool parse_cpu_list(std::string_view text, CpuList& out);
std::string cpu_text(const CpuList& sorted);
struct CpuRun { // consecutive numbers
    int first;
    size_t count;
};
std::vector<CpuRun> runs_in(const CpuList& sorted);

// What a rank file says of a rank: "1-3,5" are cores, "1:0-2" those of socket 1, "0:*" all of it; several
// with ';' between. False: that is no such text, or there are no such cores; wrong says which part.
bool parse_slots(std::string_view text, const HostCores& cores, CoreNumbers& out, std::string& wrong);

} // namespace zipmpi::launch
