// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What variables and search paths lead programs to: launchers, other MPIs, settings.
#include "doctor/doctor.hpp"

#include "boot/detect.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace zipmpi::tool {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
    const char* text = std::getenv(name);
    return text != nullptr ? text : "";
}

std::string first_in_path(const std::string& program) {
    for (const std::string& folder : words_of(variable("PATH"), ':'))
        if (std::string file = folder + "/" + program; access(file.c_str(), X_OK) == 0) return file;
    return {};
}

std::string real_folder(const std::string& file) {
    std::error_code none;
    return fs::canonical(file, none).parent_path();
}

void check_command(const char* program, Findings& found) {
    const std::string own = own_folder();
    const std::string file = first_in_path(program);
    const std::string todo = "export PATH=" + own + ":$PATH";
    if (file.empty()) {
        if (!first_in_path(std::string(program) + ".zipmpi").empty()) return; // as the Debian package has it
        found.push_back({std::string("path-") + program, std::string(program) + " is not in PATH",
                         "a command line without its full name finds nothing", todo});
    } else if (real_folder(file) != own) {
        found.push_back(
            {std::string("path-") + program,
             "the first " + std::string(program) + " in PATH is that of another MPI: " + file,
             "programs would be built for it, or started by it, and not by " + own + "/" + program, todo});
    }
}

bool is_mpi_library(const std::string& name) {
    return name.starts_with("libmpi.so") || name.starts_with("libmpi_abi.so") ||
           name.starts_with("libmpich.so") || name.starts_with("libmpi_cxx.so");
}

bool is_ours(const fs::path& library) {
    std::error_code none;
    const fs::path folder = fs::canonical(library, none).parent_path();
    return folder == fs::path(own_folder()).parent_path() / folder.filename();
}

std::string other_mpi_in(const std::string& folder) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none))
        if (is_mpi_library(entry.path().filename()) && !is_ours(entry.path())) return entry.path();
    return {};
}

} // namespace

void check_launch(Findings& found) {
    boot::Detection detected;
    Problem problem;
    if (!boot::detect(boot::Environment(environ), detected, problem)) {
        found.push_back({"launcher", problem.what, problem.why, problem.todo});
        return;
    }
    const std::string pmi = variable("PMI_FD");
    if (!pmi.empty() && fcntl(std::atoi(pmi.c_str()), F_GETFD) < 0)
        found.push_back({"pmi-descriptor", "PMI_FD=" + pmi + " names a descriptor that is not open",
                         "an MPI program started here waits for a launcher that it cannot reach, and fails",
                         "unset PMI_FD PMI_RANK PMI_SIZE; if a launcher has set them, start the program "
                         "directly by it and not through a script that closes descriptors"});
}

void check_search_paths(Findings& found) {
    check_command("mpiexec", found);
    check_command("mpicc", found);
    for (const std::string& folder : words_of(variable("LD_LIBRARY_PATH"), ':'))
        if (const std::string other = other_mpi_in(folder); !other.empty()) {
            found.push_back({"library-path", "LD_LIBRARY_PATH leads to another MPI: " + other,
                             "a program built with ZipMPI may be linked to it when it starts",
                             "remove " + folder +
                                 " from LD_LIBRARY_PATH; programs built by our mpicc need no "
                                 "LD_LIBRARY_PATH"});
            break;
        }
    std::string preload = variable("LD_PRELOAD");
    for (char& c : preload)
        if (c == ' ') c = ':';
    for (const std::string& file : words_of(preload, ':'))
        if (is_mpi_library(fs::path(file).filename()) && !is_ours(file))
            found.push_back({"preload", "LD_PRELOAD names another MPI: " + file,
                             "its functions take the place of ours in every program", "unset LD_PRELOAD"});
}

void check_settings(const std::vector<ParamFault>& faults, Findings& found) {
    for (const ParamFault& f : faults)
        found.push_back({"setting", "a setting is not used: " + f.origin, f.why, f.todo});
}

} // namespace zipmpi::tool
