// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// From the arguments of MPI_Comm_spawn to a command line.
#include "core/info/at_launch.hpp"
#include "core/state.hpp"
#include "core/worlds/spawn.hpp"

#include <cstdlib>
#include <unistd.h>

namespace zipmpi::core {
namespace {

std::string value_of(const Hints& hints, const char* key, const char* other = nullptr) {
    const std::string* value = hints.find(key);
    if (value == nullptr && other != nullptr) value = hints.find(other);
    return value != nullptr ? *value : std::string();
}

// In the folders of the key `path`; as it is if it is in none of them, or says where it is.
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

Err check(const Crew& crew) {
    if (crew.program.empty())
        return fail(Err::arg, "pass the name of a program", "the command is an empty text");
    if (crew.processes < 1)
        return fail(Err::arg, "pass a maxprocs of 1 or more", "maxprocs is %lld",
                    static_cast<long long>(crew.processes));
    for (const std::string& argument : crew.arguments)
        if (argument == ":")
            return fail(Err::arg, "pass the argument in another form",
                        "an argument is ':', which ends a program on the command line of mpiexec");
    return Err::success;
}

// Options of mpiexec for the whole job: from the first crew that has them.
void add_option(const std::vector<Crew>& crews, const char* key, const char* option,
                std::vector<std::string>& words) {
    for (const Crew& crew : crews) {
        const std::string value = value_of(crew.hints, key);
        if (value.empty()) continue;
        words.insert(words.end(), {option, value});
        return;
    }
}

void add_environment(const std::string& lines, std::vector<std::string>& words) {
    for (size_t from = 0; from < lines.size();) {
        const size_t end = std::min(lines.find('\n', from), lines.size());
        if (end > from) words.insert(words.end(), {"--env", lines.substr(from, end - from)});
        from = end + 1;
    }
}

// What the library of the new processes reads.
void add_variable(const Hints& hints, const char* key, const char* name, std::vector<std::string>& words) {
    if (const std::string value = value_of(hints, key); !value.empty())
        words.insert(words.end(), {"--env", std::string(name) + "=" + value});
}

} // namespace

Err command_for(const std::vector<Crew>& crews, const std::string& mpiexec, std::vector<std::string>& words,
                std::string& folder) {
    words = {mpiexec, "--bind-to", "none"}; // the cores belong to those who are there already
    if (const char* const agent = std::getenv("ZIPMPI_SPAWN_AGENT");
        agent != nullptr) // of this job's mpiexec
        words.insert(words.end(), {"--launch-agent", agent});
    if (engine()->segment.news().keeps_going != 0) words.emplace_back("--keep-going");
    add_option(crews, "host", "--host", words);
    add_option(crews, "hostfile", "--hostfile", words);
    folder = value_of(crews[0].hints, "wdir", "wd");
    for (const Crew& crew : crews)
        if (value_of(crew.hints, "wdir", "wd") != folder) folder.clear(); // each changes to its own
    for (size_t i = 0; i < crews.size(); ++i) {
        const Crew& crew = crews[i];
        if (const Err e = check(crew); e != Err::success) return e;
        if (i > 0) words.emplace_back(":");
        words.insert(words.end(), {"-n", std::to_string(crew.processes)});
        add_environment(value_of(crew.hints, "env"), words);
        add_variable(crew.hints, initial_errhandler_key, initial_errhandler_variable, words);
        add_variable(crew.hints, memory_kinds_key, memory_kinds_variable, words);
        const std::string own_folder = value_of(crew.hints, "wdir", "wd");
        if (own_folder != folder) words.insert(words.end(), {"env", "-C", own_folder});
        words.push_back(find_in_path(crew.program, value_of(crew.hints, "path")));
        words.insert(words.end(), crew.arguments.begin(), crew.arguments.end());
    }
    return Err::success;
}

} // namespace zipmpi::core
