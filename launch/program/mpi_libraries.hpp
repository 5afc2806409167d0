// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The MPI libraries that a program would load at its start.
#pragma once

#include "launch/program/elf_file.hpp"
#include "launch/program/library_search.hpp"

#include <optional>

namespace zipmpi::launch {

enum class MpiAbi { standard, openmpi, mpich };
const char* name_of(MpiAbi abi); // "Open MPI"

// What the file name of a library says about MPI.
struct MpiSoname {
    MpiAbi abi;
    enum class Part { main, fortran_or_cxx, runtime } part; // runtime: libopen-rte, libopen-pal
    bool supported;                                         // its version is that of a binding
};
std::optional<MpiSoname> read_mpi_soname(std::string_view name);

struct MpiLibrary {
    std::string name;      // as needed: "libmpi.so.40"
    std::string path;      // file that is loaded; empty: not found
    std::string needed_by; // file that needs it
    FoundBy by = FoundBy::nothing;
    MpiSoname kind{};
};

struct MpiLibraries {
    std::vector<MpiLibrary> found; // in the order of the linker, each name once
    bool complete = true;          // false: the program has too many libraries, the rest was not looked at

    [[nodiscard]] bool has(MpiAbi abi) const { return first(abi) != nullptr; }
    [[nodiscard]] const MpiLibrary* first(MpiAbi abi) const; // runtime libraries do not count
};

// Goes through the libraries of a program breadth-first, as the linker does. preload: value of LD_PRELOAD.
MpiLibraries find_mpi_libraries(const std::string& program, const std::string& preload,
                                LibrarySearch& search);

} // namespace zipmpi::launch
