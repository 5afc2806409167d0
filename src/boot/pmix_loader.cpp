// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/pmix_loader.hpp"

#include "boot/local_diagnostic.hpp"
#include "boot/timeouts.hpp"
#include "os/module_folder.hpp"

namespace zipmpi::boot {

std::unique_ptr<Launcher> open_pmix(PmixIdentity& me, Diagnostic& why) {
    std::string reason;
    void* const function = os::load_symbol(os::module_path(pmix_module_file), pmix_open_symbol, reason);
    if (function == nullptr) {
        why = local_diagnostic(
            "the launcher uses PMIx, but the PMIx module of ZipMPI cannot be loaded", reason,
            "install libpmix (Debian: libpmix2) and a ZipMPI that was built with it, or start the program "
            "with ZipMPI's mpiexec or srun --mpi=pmi2");
        return nullptr;
    }
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
