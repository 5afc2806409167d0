// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/out_of_memory.hpp"

#include "core/flush_output.hpp"

#include <cstdio>
#include <cstdlib>
#include <sys/utsname.h>
#include <unistd.h>

namespace zipmpi::core {

void exit_out_of_memory() noexcept {
    flush_program_output();
    utsname host{};
    uname(&host);
    const char* const rank = std::getenv("PMI_RANK"); // the job may not be initialized yet
    char text[512];
    const int length =
        std::snprintf(text, sizeof text,
                      "zipmpi: MPI cannot start: out of memory\n"
                      "  where: %s%s%shost %s, pid %d\n"
                      "  why:   the system refused a memory allocation of the library in MPI_Init\n"
                      "  fix:   raise the memory limits (ulimit -v, batch job), or start fewer "
                      "ranks on this host\n",
                      rank != nullptr ? "rank " : "", rank != nullptr ? rank : "",
                      rank != nullptr ? ", " : "", host.nodename, getpid());
    if (length > 0) static_cast<void>(!::write(STDERR_FILENO, text, static_cast<size_t>(length)));
    _exit(1);
}

} // namespace zipmpi::core
