// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/module_folder.hpp"

#include "base/param.hpp"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string_view>
#include <unistd.h>

namespace zipmpi::boot {
namespace {

Param<std::string> module_folder{
    "boot.module_path", "",           nullptr,
    Level::tuner,       Scope::local, "folder of the modules; empty: the folder zipmpi beside the library"};

// The folder of the library, or program, that this code is linked into.
std::string own_folder() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&module_path), &info) == 0 || info.dli_fname == nullptr)
        return {};
    // Of a program it is the name by which it was called, which says nothing if PATH led to it.
    const bool called_by_name = std::strchr(info.dli_fname, '/') == nullptr;
    char* real = realpath(called_by_name ? "/proc/self/exe" : info.dli_fname, nullptr);
    const std::string path = real != nullptr ? real : info.dli_fname;
    std::free(real);
    return path.substr(0, path.rfind('/'));
}

} // namespace

std::string module_path(const char* file) {
    const std::string name = std::string("/") + file;
    if (!module_folder.get().empty()) return module_folder.get() + name;
    const std::string here = own_folder();
    // The build folder is looked at only by what runs from the build folder.
    if (here.starts_with(ZIPMPI_BUILD_FOLDER "/")) return ZIPMPI_BUILD_MODULE_FOLDER + name;
    std::string beside_library = here + "/zipmpi" + name;
    if (access(beside_library.c_str(), F_OK) == 0) return beside_library;
    const std::string beside_bin = here + "/../" ZIPMPI_LIB_DIR "/zipmpi"; // of a program of ours
    if (access(beside_bin.c_str(), F_OK) == 0) return beside_bin + name;
    return file; // a program with the static library in it: its run path leads to the modules
}

std::string program_path(const char* file) {
    const std::string here = own_folder();
    for (const char* const way : {"/../bin/", "/../../bin/", "/"}) {
        std::string path = here + way + file;
        if (access(path.c_str(), X_OK) == 0) return path;
    }
    return {};
}

} // namespace zipmpi::boot
