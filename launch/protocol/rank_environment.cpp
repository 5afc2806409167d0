// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/protocol/rank_environment.hpp"

namespace zipmpi::launch {

bool is_launcher_variable(std::string_view name) {
    if (name.rfind("PMIX_MCA_", 0) == 0) return false; // settings of the user, not of a launcher
    for (const std::string_view prefix : {"PMI_", "PMI2_", "PMIX_", "OMPI_COMM_WORLD_", "OMPI_MCA_orte_",
                                          "OMPI_MCA_ess", "OMPI_MCA_pmix", "ORTE_", "PRTE_", "HYDI_"})
        if (name.substr(0, prefix.size()) == prefix) return true;
    for (const std::string_view whole : {"ZIPMPI_HOLD_FD",
                                         "ZIPMPI_NODE_FD",
                                         "ZIPMPI_LOCAL_INDEX",
                                         "ZIPMPI_JOB_ID",
                                         "ZIPMPI_NODE_INDEX",
                                         "ZIPMPI_NODES",
                                         "ZIPMPI_CLUSTERS",
                                         "ZIPMPI_APP_NUMBER",
                                         "ZIPMPI_SPAWN_PORT",
                                         "ZIPMPI_SPAWN_AGENT",
                                         "ZIPMPI_PARENT_PORT",
                                         "MPI_LOCALRANKID",
                                         "MPI_LOCALNRANKS",
                                         "OMPI_UNIVERSE_SIZE",
                                         "OMPI_APP_CTX_NUM_PROCS",
                                         "OMPI_FIRST_RANKS",
                                         "OMPI_NUM_APP_CTX",
                                         "OMPI_COMMAND",
                                         "OMPI_ARGV",
                                         "OMPI_FILE_LOCATION",
                                         "OMPI_MCA_initial_wdir",
                                         "OMPI_MCA_mpi_oversubscribe"})
        if (name == whole) return true;
    return false;
}

std::vector<std::string> remove_launcher_variables(const char* const* environ_like) {
    std::vector<std::string> kept;
    for (const char* const* e = environ_like; *e != nullptr; ++e) {
        const std::string_view entry(*e);
        if (!is_launcher_variable(entry.substr(0, entry.find('=')))) kept.emplace_back(entry);
    }
    return kept;
}

std::vector<std::string> merge_env(const std::vector<std::string>& base,
                                   const std::vector<std::string>& changes) {
    std::vector<std::string> all = base;
    for (const std::string& change : changes) {
        const std::string name = change.substr(0, change.find('=') + 1);
        bool replaced = false;
        for (std::string& entry : all) {
            if (entry.compare(0, name.size(), name) != 0) continue;
            entry = change;
            replaced = true;
        }
        if (!replaced) all.push_back(change);
    }
    return all;
}

void prepend_to_path(std::vector<std::string>& env, const std::string& name, const std::string& folder) {
    for (std::string& entry : env)
        if (entry.starts_with(name + "=")) {
            const bool only = entry.size() == name.size() + 1;
            entry.insert(name.size() + 1, only ? folder : folder + ":");
            return;
        }
    env.push_back(name + "=" + folder);
}

} // namespace zipmpi::launch
