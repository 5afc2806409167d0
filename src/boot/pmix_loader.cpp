// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/pmix_loader.hpp"

#include "base/param.hpp"
#include "boot/limits.hpp"
#include "boot/problem_here.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

namespace zipmpi::boot {
namespace {

Param<std::string> module_path{
    "boot.module_path", "",           nullptr,
    Level::tuner,       Scope::local, "folder of the modules; empty: the folder zipmpi beside the library"};

// The folder of the library, or program, that this code is linked into.
std::string own_folder() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&open_pmix), &info) == 0 || info.dli_fname == nullptr) return {};
    char* real = realpath(info.dli_fname, nullptr);
    const std::string path = real != nullptr ? real : info.dli_fname;
    std::free(real);
    return path.substr(0, path.rfind('/'));
}

std::string module_folder() {
    if (!module_path.get().empty()) return module_path.get();
    const std::string here = own_folder();
    // The build folder is looked at only by what runs from the build folder.
    if (here.starts_with(ZIPMPI_BUILD_FOLDER "/")) return ZIPMPI_BUILD_MODULE_FOLDER;
    return here + "/zipmpi";
}

} // namespace

std::unique_ptr<Launcher> open_pmix(PmixIdentity& me, Problem& why) {
    const std::string file = module_folder() + "/" + pmix_module_file;
    void* module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* function = module != nullptr ? dlsym(module, pmix_open_symbol) : nullptr;
    if (function == nullptr) {
        const char* text = dlerror();
        why = problem_here(
            "the launcher speaks PMIx, but the PMIx module of ZipMPI cannot be loaded",
            text != nullptr ? text : file + " has no entry " + pmix_open_symbol,
            "install libpmix (Debian: libpmix2) and a ZipMPI that was built with it, or start the program "
            "with ZipMPI's mpiexec or srun --mpi=pmi2");
        return nullptr;
    }
    std::string reason;
    std::unique_ptr<Launcher> launcher(
        reinterpret_cast<PmixOpen>(function)(handshake_limit_seconds(), me, reason));
    if (!launcher)
        why = problem_here("the launcher's variables for PMIx are set, but its server cannot be used", reason,
                           "if this program was started by another MPI program or in a shell left over from "
                           "a job, remove PMIX_NAMESPACE and PMIX_RANK from its environment; else start it "
                           "with ZipMPI's mpiexec");
    return launcher;
}

} // namespace zipmpi::boot
