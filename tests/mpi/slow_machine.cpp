// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// To be preloaded: the process takes SLOW_MACHINE_MS milliseconds to read its machine by hwloc, and is killed
// then if SLOW_MACHINE_DIES is set. The call below is one of those that do so; it only leaves something out.
#include <csignal>
#include <cstdlib>
#include <unistd.h>

// NOLINTNEXTLINE(readability-identifier-naming): hwloc's
extern "C" [[gnu::visibility("default")]] int
hwloc_topology_set_components(void* /*topology*/, unsigned long /*flags*/, const char* /*name*/) {
    if (const char* const text = std::getenv("SLOW_MACHINE_MS"); text != nullptr)
        usleep(1000U * static_cast<unsigned>(std::atoi(text)));
    if (std::getenv("SLOW_MACHINE_DIES") != nullptr) raise(SIGKILL);
    return 0;
}
