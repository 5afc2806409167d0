// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the dynamic linker reads of an ELF file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::launch {

struct ElfFile {
    enum class Kind {
        not_elf,       // a script, or a file that cannot be read
        damaged,       // its headers or segments are cut off
        other_machine, // 32-bit, or for another processor
        static_program,
        dynamic, // a dynamically linked program or a library
    } kind = Kind::not_elf;
    std::string problem;     // of damaged and other_machine: "a 32-bit file"
    std::string interpreter; // dynamic linker; empty for libraries
    std::string soname;
    std::vector<std::string> needed;
    std::string rpath, runpath;
};

ElfFile read_elf(const std::string& path);

// True if the file contains one of the words. For static programs, which have no list of libraries.
bool file_contains(const std::string& path, const std::vector<std::string_view>& words);

// True if the dynamic string table has a name that begins with `prefix`.
bool uses_symbols(const std::string& path, std::string_view prefix);

} // namespace zipmpi::launch
