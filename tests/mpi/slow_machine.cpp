// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Preloaded: the process creates the file SLOW_MACHINE_FLAG when it begins to read the topology by hwloc,
// takes SLOW_MACHINE_MS milliseconds, and is killed then if SLOW_MACHINE_DIES is set. The replaced call is
// one of those that reading makes; it only excludes components.
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

// NOLINTNEXTLINE(readability-identifier-naming): hwloc's
extern "C" [[gnu::visibility("default")]] int
hwloc_topology_set_components(void* /*topology*/, unsigned long /*flags*/, const char* /*name*/) {
    if (const char* const name = std::getenv("SLOW_MACHINE_FLAG"); name != nullptr)
        close(open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    if (const char* const text = std::getenv("SLOW_MACHINE_MS"); text != nullptr)
        usleep(1000U * static_cast<unsigned>(std::atoi(text)));
    if (std::getenv("SLOW_MACHINE_DIES") != nullptr) raise(SIGKILL);
    return 0;
}
