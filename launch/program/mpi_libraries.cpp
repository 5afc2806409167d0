// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/program/mpi_libraries.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <set>

namespace zipmpi::launch {
namespace {

constexpr size_t max_objects = 1000; // of one program

using Part = MpiSoname::Part;

struct NameRow {
    std::string_view stem; // before ".so."
    MpiAbi abi;
    Part part;
    std::string_view version; // of the binding
};
constexpr std::array names = {
    NameRow{"libmpi_abi", MpiAbi::standard, Part::main, "1"},
    NameRow{"libmpi", MpiAbi::mpich, Part::main, "12"}, // before the next row, which has all other versions
    NameRow{"libmpi", MpiAbi::openmpi, Part::main, "40"},
    NameRow{"libmpi_mpifh", MpiAbi::openmpi, Part::fortran_or_cxx, "40"},
    NameRow{"libmpi_usempif08", MpiAbi::openmpi, Part::fortran_or_cxx, "40"},
    NameRow{"libmpi_usempi_ignore_tkr", MpiAbi::openmpi, Part::fortran_or_cxx, "40"},
    NameRow{"libmpi_usempi", MpiAbi::openmpi, Part::fortran_or_cxx, "40"},
    NameRow{"libmpi_cxx", MpiAbi::openmpi, Part::fortran_or_cxx, "40"},
    NameRow{"libmpi_f77", MpiAbi::openmpi, Part::fortran_or_cxx, "40"},
    NameRow{"libmpi_f90", MpiAbi::openmpi, Part::fortran_or_cxx, "40"},
    NameRow{"libopen-rte", MpiAbi::openmpi, Part::runtime, "40"},
    NameRow{"libopen-pal", MpiAbi::openmpi, Part::runtime, "40"},
    NameRow{"libmpich", MpiAbi::mpich, Part::main, "12"},
    NameRow{"libmpichfort", MpiAbi::mpich, Part::fortran_or_cxx, "12"},
    NameRow{"libmpichcxx", MpiAbi::mpich, Part::fortran_or_cxx, "12"},
    NameRow{"libmpifort", MpiAbi::mpich, Part::fortran_or_cxx, "12"},
    NameRow{"libmpicxx", MpiAbi::mpich, Part::fortran_or_cxx, "12"},
};

// Libraries of the compiler and the C library, which need no MPI.
bool is_system_library(std::string_view name) {
    static constexpr std::array stems = {"libc",        "libm",           "libdl",    "libpthread",
                                         "librt",       "libstdc++",      "libgcc_s", "libgfortran",
                                         "libquadmath", "ld-linux-x86-64"};
    const std::string_view stem = name.substr(0, name.find(".so"));
    return std::find(stems.begin(), stems.end(), stem) != stems.end();
}

std::string folder_of(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
}

struct Object {
    std::string path;
    std::vector<std::string> needed;
    SearchScope scope;
};

class Walk {
  public:
    explicit Walk(LibrarySearch& search)
        : search_(search) {}

    void add(const std::string& path, const SearchScope* loader) {
        ElfFile elf = read_elf(path);
        objects_.push_back({path,
                            std::move(elf.needed),
                            {folder_of(path), std::move(elf.rpath), std::move(elf.runpath), loader}});
    }

    void preload(const std::string& name) {
        if (const std::string path = search_.find(name, objects_.front().scope).path; !path.empty())
            load(name, path, FoundBy::system, objects_.front());
    }

    MpiLibraries run() {
        for (; next_ < objects_.size() && next_ < max_objects; ++next_)
            for (const std::string& name : std::vector(objects_[next_].needed)) need(name, objects_[next_]);
        result_.complete = next_ == objects_.size();
        return std::move(result_);
    }

  private:
    void need(const std::string& name, const Object& by) {
        if (is_system_library(name) || seen_.contains(name)) return;
        const LibrarySearch::Result file = search_.find(name, by.scope);
        load(name, file.path, file.by, by);
    }

    void load(const std::string& needed, const std::string& path, FoundBy rule, const Object& by) {
        const std::string name = needed.substr(needed.rfind('/') + 1);
        seen_.insert(needed);
        seen_.insert(name);
        const std::optional<MpiSoname> mpi = read_mpi_soname(name);
        if (mpi) {
            result_.found.push_back({name, path, by.path, rule, *mpi});
            // Open MPI before version 2 used this name too.
            if (name == "libmpi.so.12" && uses_symbols(by.path, "ompi_mpi_"))
                result_.found.back().kind = {MpiAbi::openmpi, Part::main, false};
        }
        const bool is_end = mpi && mpi->part != Part::fortran_or_cxx; // its libraries are its own affair
        if (!path.empty() && !is_end) add(path, &by.scope);
    }

    LibrarySearch& search_;
    std::deque<Object> objects_; // addresses of scopes stay valid
    size_t next_ = 0;
    std::set<std::string, std::less<>> seen_;
    MpiLibraries result_;
};

} // namespace

const char* name_of(MpiAbi abi) {
    return abi == MpiAbi::openmpi ? "Open MPI" : abi == MpiAbi::mpich ? "MPICH" : "the MPI standard";
}

std::optional<MpiSoname> read_mpi_soname(std::string_view name) {
    const size_t dot = name.find(".so.");
    if (dot == std::string_view::npos) return std::nullopt;
    const std::string_view stem = name.substr(0, dot);
    const std::string_view rest = name.substr(dot + 4);
    const std::string_view version = rest.substr(0, rest.find('.'));
    std::optional<MpiSoname> best;
    for (const NameRow& row : names) {
        if (row.stem != stem) continue;
        best = MpiSoname{row.abi, row.part, row.version == version};
        if (best->supported) break;
    }
    return best;
}

const MpiLibrary* MpiLibraries::first(MpiAbi abi) const {
    const auto at = std::find_if(found.begin(), found.end(), [&](const MpiLibrary& l) {
        return l.kind.abi == abi && l.kind.part != Part::runtime;
    });
    return at == found.end() ? nullptr : &*at;
}

MpiLibraries find_mpi_libraries(const std::string& program, const std::string& preload,
                                LibrarySearch& search) {
    Walk walk(search);
    walk.add(program, nullptr);
    for (size_t begin = 0; begin < preload.size();) {
        const size_t end = std::min(preload.find_first_of(": ", begin), preload.size());
        if (end > begin) walk.preload(preload.substr(begin, end - begin));
        begin = end + 1;
    }
    return walk.run();
}

} // namespace zipmpi::launch
