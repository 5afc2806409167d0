// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/allocation.hpp"

#include "launch/mpiexec/executable.hpp"

#include <algorithm>
#include <array>

namespace zipmpi::launch {
namespace {

// In order of precedence. PBS has agents that keep accounts (pbs_tmrsh), but not all of them pass standard
// input on, which the daemon needs.
constexpr std::array batch_systems = {
    BatchSystem{"Slurm", "SLURM_JOB_NODELIST", HostFormat::slurm, slurm_agent, ""},
    BatchSystem{"LSF", "LSB_DJOB_HOSTFILE", HostFormat::file, lsf_agent, "$LSF_BINDIR"},
    BatchSystem{"LSF", "LSB_MCPU_HOSTS", HostFormat::pairs, lsf_agent, "$LSF_BINDIR"},
    BatchSystem{"SGE", "PE_HOSTFILE", HostFormat::file, sge_agent, "$SGE_ROOT/bin/$ARC"},
    BatchSystem{"OAR", "OAR_NODEFILE", HostFormat::file, "oarsh", ""},
    BatchSystem{"OAR", "OAR_NODE_FILE", HostFormat::file, "oarsh", ""},
    BatchSystem{"PBS", "PBS_NODEFILE", HostFormat::file, "", ""},
};

// Replaces $NAME by its value. Empty if a variable is not set.
std::string expand_variables(std::string_view text, const char* const* environ_like) {
    std::string whole;
    while (!text.empty()) {
        const size_t dollar = std::min(text.find('$'), text.size());
        whole += text.substr(0, dollar);
        text.remove_prefix(dollar);
        if (text.empty()) break;
        const size_t end = std::min(text.find('/'), text.size());
        const std::string value = find_variable(environ_like, text.substr(1, end - 1));
        if (value.empty()) return {};
        whole += value;
        text.remove_prefix(end);
    }
    return whole;
}

} // namespace

std::string find_variable(const char* const* environ_like, std::string_view name) {
    for (const char* const* e = environ_like; *e != nullptr; ++e) {
        const std::string_view entry(*e);
        if (entry.starts_with(name) && entry.size() > name.size() && entry[name.size()] == '=')
            return std::string(entry.substr(name.size() + 1));
    }
    return {};
}

const BatchSystem* find_batch_system(const char* const* environ_like) {
    const auto* const found =
        std::find_if(batch_systems.begin(), batch_systems.end(), [&](const BatchSystem& system) {
            return !find_variable(environ_like, system.variable).empty();
        });
    return found == batch_systems.end() ? nullptr : found;
}

std::string batch_agent(const BatchSystem& system, const char* const* environ_like) {
    const std::string agent = system.agent;
    const std::string program = agent.substr(0, agent.find(' '));
    if (program.empty()) return {};
    const std::string folder = expand_variables(system.agent_folder, environ_like);
    if (!folder.empty() && is_executable(folder + "/" + program)) return folder + "/" + agent;
    std::string path;
    Diagnostic missing;
    int exit_code = 0;
    return find_program(program, {}, path, missing, exit_code) ? agent : std::string();
}

} // namespace zipmpi::launch
