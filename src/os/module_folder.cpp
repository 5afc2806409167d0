// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "os/module_folder.hpp"

#include "base/param.hpp"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string_view>
#include <unistd.h>

namespace zipmpi::os {
namespace {

Param<std::string> module_folder{
    "install.module_dir", "",           nullptr,
    Level::tuner,         Scope::local, "directory of loadable modules; empty: zipmpi/ next to the library"};

// Directory of the library or program that this code is linked into.
std::string own_folder() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&module_path), &info) == 0 || info.dli_fname == nullptr)
        return {};
    // For a program dli_fname is argv[0], which has no directory if the program was found through PATH.
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
    // Only programs in the build directory use modules of the build directory.
    constexpr std::string_view build_folder = ZIPMPI_BUILD_FOLDER;
    if (!build_folder.empty() && here.starts_with(build_folder))
        return std::string(build_folder) + "lib/zipmpi" + name;
    std::string beside_library = here + "/zipmpi" + name;
    if (access(beside_library.c_str(), F_OK) == 0) return beside_library;
    std::string above_binding = here + "/.." + name; // for a library of another ABI, in a folder below
    if (access(above_binding.c_str(), F_OK) == 0) return above_binding;
    const std::string beside_bin =
        here + "/../" ZIPMPI_LIB_DIR "/zipmpi"; // for programs of this installation
    if (access(beside_bin.c_str(), F_OK) == 0) return beside_bin + name;
    return file; // program with the static library: the module is found by its RUNPATH
}

std::string program_path(const char* file) {
    const std::string here = own_folder();
    // libraries of other ABIs are two folders below the others
    for (const char* const relative :
         {"/../bin/", "/../../bin/", "/../../../bin/", "/../../../../bin/", "/"}) {
        std::string path = here + relative + file;
        if (access(path.c_str(), X_OK) == 0) return path;
    }
    return {};
}

void* load_symbol(const std::string& module, const char* symbol, std::string& why) {
    void* const handle = dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const found = handle != nullptr ? dlsym(handle, symbol) : nullptr;
    if (found == nullptr) {
        const char* const text = dlerror();
        why = text != nullptr ? text : module + " does not define " + symbol;
    }
    return found;
}

} // namespace zipmpi::os
