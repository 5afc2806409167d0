// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Conversion of the arguments of MPI_Comm_spawn to an mpiexec command line.
#include "core/dpm/spawn.hpp"
#include "core/info/launch_keys.hpp"
#include "core/runtime_state.hpp"

#include <cstdlib>
#include <unistd.h>

namespace zipmpi::core {
namespace {

std::string value_of(const Hints& hints, const char* key, const char* other = nullptr) {
    const std::string* value = hints.find(key);
    if (value == nullptr && other != nullptr) value = hints.find(other);
    return value != nullptr ? *value : std::string();
}

// Searches the directories of the key `path`; returns the name unchanged if it is in none of them or contains
// a path.
std::string find_in_path(const std::string& program, const std::string& path) {
    if (program.find('/') != std::string::npos) return program;
    for (size_t from = 0; from < path.size();) {
        const size_t end = std::min(path.find(':', from), path.size());
        std::string file = path.substr(from, end - from) + "/" + program;
        if (end > from && access(file.c_str(), X_OK) == 0) return file;
        from = end + 1;
    }
    return program;
}

Err check(const AppSpec& app) {
    if (app.program.empty())
        return fail(Err::arg, "pass the name of a program", "the command is an empty string");
    if (app.processes < 1)
        return fail(Err::arg, "pass a maxprocs of 1 or more", "maxprocs is %lld",
                    static_cast<long long>(app.processes));
    for (const std::string& argument : app.arguments)
        if (argument == ":")
            return fail(Err::arg, "pass the argument in another form",
                        "an argument is ':', which separates programs on the mpiexec command line");
    return Err::success;
}

// Job-wide options of mpiexec, from the first program that has the key.
void add_option(const std::vector<AppSpec>& apps, const char* key, const char* option,
                std::vector<std::string>& arguments) {
    for (const AppSpec& app : apps) {
        const std::string value = value_of(app.hints, key);
        if (value.empty()) continue;
        arguments.insert(arguments.end(), {option, value});
        return;
    }
}

void add_environment(const std::string& lines, std::vector<std::string>& arguments) {
    for (size_t from = 0; from < lines.size();) {
        const size_t end = std::min(lines.find('\n', from), lines.size());
        if (end > from) arguments.insert(arguments.end(), {"--env", lines.substr(from, end - from)});
        from = end + 1;
    }
}

// Environment variable for the library in the new processes.
void add_variable(const Hints& hints, const char* key, const char* name,
                  std::vector<std::string>& arguments) {
    if (const std::string value = value_of(hints, key); !value.empty())
        arguments.insert(arguments.end(), {"--env", std::string(name) + "=" + value});
}

} // namespace

Err mpiexec_command(const std::vector<AppSpec>& apps, const std::string& mpiexec,
                    std::vector<std::string>& arguments, std::string& folder) {
    arguments = {mpiexec, "--bind-to", "none"}; // the cores are used by the running ranks
    if (const char* const agent = std::getenv("ZIPMPI_SPAWN_AGENT");
        agent != nullptr) // inherited from this job's mpiexec
        arguments.insert(arguments.end(), {"--launch-agent", agent});
    if (runtime()->segment.faults().state().fault_tolerant != 0) arguments.emplace_back("--keep-going");
    add_option(apps, "host", "--host", arguments);
    add_option(apps, "hostfile", "--hostfile", arguments);
    folder = value_of(apps[0].hints, "wdir", "wd");
    for (const AppSpec& app : apps)
        if (value_of(app.hints, "wdir", "wd") != folder)
            folder.clear(); // each program changes to its own directory
    for (size_t i = 0; i < apps.size(); ++i) {
        const AppSpec& app = apps[i];
        if (const Err e = check(app); e != Err::success) return e;
        if (i > 0) arguments.emplace_back(":");
        arguments.insert(arguments.end(), {"-n", std::to_string(app.processes)});
        add_environment(value_of(app.hints, "env"), arguments);
        add_variable(app.hints, initial_errhandler_key, initial_errhandler_variable, arguments);
        add_variable(app.hints, memory_kinds_key, memory_kinds_variable, arguments);
        const std::string app_folder = value_of(app.hints, "wdir", "wd");
        if (app_folder != folder) arguments.insert(arguments.end(), {"env", "-C", app_folder});
        arguments.push_back(find_in_path(app.program, value_of(app.hints, "path")));
        arguments.insert(arguments.end(), app.arguments.begin(), app.arguments.end());
    }
    return Err::success;
}

} // namespace zipmpi::core
