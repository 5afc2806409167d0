// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Batch systems whose allocations mpiexec detects: the variable that tells the hosts, its format, and the
// command that starts processes on them. Used by the selection of hosts and of the launch agent.
#pragma once

#include <string>
#include <string_view>

namespace zipmpi::launch {

enum class HostFormat {
    slurm, // "n[1-3],m", with the slots in other variables
    file,  // name of a host file
    pairs  // "n1 4 n2 2"
};

struct BatchSystem {
    const char* name;
    const char* variable; // tells the hosts
    HostFormat format;
    const char* agent;        // empty: ssh
    const char* agent_folder; // of the agent, with variables; empty: found in PATH
};

inline constexpr const char* ssh_agent = "ssh -x -T -o BatchMode=yes";
// --overlap: the step may use what the step of mpiexec uses. The daemon binds ranks itself.
inline constexpr const char* slurm_agent = "srun --overlap -N1 -n1 --mpi=none --cpu-bind=none -w {host}";
inline constexpr const char* sge_agent = "qrsh -inherit -V";
inline constexpr const char* lsf_agent = "blaunch";

// Value of a variable; empty if it is not set.
std::string find_variable(const char* const* environ_like, std::string_view name);

// The batch system whose allocation this process is in; nullptr: none.
const BatchSystem* find_batch_system(const char* const* environ_like);

// Its launch agent; empty if it has none or if that is not installed.
std::string batch_agent(const BatchSystem& system, const char* const* environ_like);

} // namespace zipmpi::launch
