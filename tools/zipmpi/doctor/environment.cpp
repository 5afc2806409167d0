// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Checks of variables and search paths: launchers, other MPIs, settings.
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
    for (const std::string& folder : split_list(variable("PATH"), ':'))
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
        if (!first_in_path(std::string(program) + ".zipmpi").empty()) return; // as in the Debian package
        found.push_back({std::string("path-") + program, std::string(program) + " is not in PATH",
                         "it can only be started by its full path", todo});
    } else if (real_folder(file) != own) {
        found.push_back({std::string("path-") + program,
                         "the first " + std::string(program) + " in PATH belongs to another MPI: " + file,
                         "programs would be built or started with it instead of " + own + "/" + program,
                         todo});
    }
}

bool is_mpi_library(const std::string& name) {
    return name.starts_with("libmpi.so") || name.starts_with("libmpi_abi.so") ||
           name.starts_with("libmpich.so") || name.starts_with("libmpi_cxx.so");
}

bool is_own_library(const fs::path& library) {
    std::error_code none;
    const fs::path folder = fs::canonical(library, none).parent_path();
    return folder == fs::path(own_folder()).parent_path() / folder.filename();
}

std::string other_mpi_in(const std::string& folder) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none))
        if (is_mpi_library(entry.path().filename()) && !is_own_library(entry.path())) return entry.path();
    return {};
}

} // namespace

void check_launch(Findings& found) {
    boot::Detection detected;
    Diagnostic problem;
    if (!boot::detect(boot::Environment(environ), detected, problem)) {
        found.push_back({"launcher", problem.what, problem.why, problem.fix});
        return;
    }
    const std::string pmi = variable("PMI_FD");
    if (!pmi.empty() && fcntl(std::atoi(pmi.c_str()), F_GETFD) < 0)
        found.push_back({"pmi-descriptor", "PMI_FD=" + pmi + " is not an open descriptor",
                         "an MPI program started here cannot reach its launcher, and fails",
                         "unset PMI_FD PMI_RANK PMI_SIZE; if a launcher has set them, start the program "
                         "directly by it and not through a script that closes descriptors"});
}

void check_search_paths(Findings& found) {
    check_command("mpiexec", found);
    check_command("mpicc", found);
    for (const std::string& folder : split_list(variable("LD_LIBRARY_PATH"), ':'))
        if (const std::string other = other_mpi_in(folder); !other.empty()) {
            found.push_back({"library-path", "LD_LIBRARY_PATH contains another MPI: " + other,
                             "a program built with ZipMPI may load it at run time",
                             "remove " + folder +
                                 " from LD_LIBRARY_PATH; programs built by the mpicc of ZipMPI need no "
                                 "LD_LIBRARY_PATH"});
            break;
        }
    std::string preload = variable("LD_PRELOAD");
    for (char& c : preload)
        if (c == ' ') c = ':';
    for (const std::string& file : split_list(preload, ':'))
        if (is_mpi_library(fs::path(file).filename()) && !is_own_library(file))
            found.push_back({"preload", "LD_PRELOAD contains another MPI: " + file,
                             "its functions replace those of ZipMPI in every program", "unset LD_PRELOAD"});
}

void check_settings(const std::vector<ParamError>& faults, Findings& found) {
    for (const ParamError& f : faults)
        found.push_back({"setting", "a setting is ignored: " + f.origin, f.why, f.fix});
}

} // namespace zipmpi::tool
