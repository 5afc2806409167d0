// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/pmix_loader.hpp"

#include "boot/local_diagnostic.hpp"
#include "boot/module_folder.hpp"
#include "boot/timeouts.hpp"

#include <dlfcn.h>

namespace zipmpi::boot {

std::unique_ptr<Launcher> open_pmix(PmixIdentity& me, Diagnostic& why) {
    const std::string file = module_path(pmix_module_file);
    void* module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* function = module != nullptr ? dlsym(module, pmix_open_symbol) : nullptr;
    if (function == nullptr) {
        const char* text = dlerror();
        why = local_diagnostic(
            "the launcher uses PMIx, but the PMIx module of ZipMPI cannot be loaded",
            text != nullptr ? text : file + " has no symbol " + pmix_open_symbol,
            "install libpmix (Debian: libpmix2) and a ZipMPI that was built with it, or start the program "
            "with ZipMPI's mpiexec or srun --mpi=pmi2");
        return nullptr;
    }
    std::string reason;
    std::unique_ptr<Launcher> launcher(
        reinterpret_cast<PmixOpen>(function)(handshake_timeout_seconds(), me, reason));
    if (!launcher)
        why = local_diagnostic(
            "the launcher's variables for PMIx are set, but its server cannot be used", reason,
            "if this program was started by another MPI program or in a shell left over from "
            "a job, remove PMIX_NAMESPACE and PMIX_RANK from its environment; else start it "
            "with ZipMPI's mpiexec");
    return launcher;
}

} // namespace zipmpi::boot
