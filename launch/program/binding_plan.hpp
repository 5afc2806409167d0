// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which MPI library the ranks of a program load, and the variables that make them load a binding of ZipMPI.
#pragma once

#include "base/diagnostic.hpp"
#include "launch/program/mpi_libraries.hpp"

namespace zipmpi::launch {

// --mpi: automatic: the binding that the program needs; zipmpi: all bindings first, whatever the program is;
// own: no change.
enum class MpiMode { automatic, zipmpi, own };

// Folders with libraries of other ABIs that use ZipMPI. Empty: not installed.
struct BindingFolders {
    std::string openmpi, mpich;
};
BindingFolders installed_bindings();

// Variables of the ranks that decide which libraries they load.
struct LoaderVariables {
    std::string library_path, preload, path; // LD_LIBRARY_PATH, LD_PRELOAD, PATH
    std::string r_library_path;              // R_LD_LIBRARY_PATH, which R puts before LD_LIBRARY_PATH
};

struct BindingPlan {
    enum class Outcome {
        standard, // linked with libmpi_abi
        binding,  // loads a binding of ZipMPI
        possible, // no MPI found; a script or what the program starts may need one
        own,      // loads the MPI library that it was linked with
    } outcome = Outcome::possible;
    LoaderVariables variables; // as the ranks get them
    MpiLibraries libraries;    // loaded with these variables
    std::string interpreter;   // of a script: the program that runs it
    std::string note;          // one sentence: what happens, and why
    std::vector<Diagnostic> warnings;
    Diagnostic refusal; // `what` empty: none
    int refusal_code = 126;
};

BindingPlan plan_binding(const std::string& program, MpiMode mode, const BindingFolders& bindings,
                         const LoaderVariables& now);

} // namespace zipmpi::launch
