// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Tools that note for each byte of a process whether it was ever written.
#pragma once

#include <cstdlib>
#include <cstring>

// Defined by the runtime of MemorySanitizer, if the program was compiled for it.
// NOLINTNEXTLINE(bugprone-reserved-identifier): its name
extern "C" __attribute__((weak)) void __msan_scoped_disable_interceptor_checks(void);

namespace zipmpi::os {

// This process runs under valgrind, which sees all that the process does, but not what others write into its
// memory. valgrind loads its own library into each process that it watches.
inline bool under_valgrind() noexcept {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): asked once, when the library starts
    const char* const preloaded = std::getenv("LD_PRELOAD");
    return preloaded != nullptr && std::strstr(preloaded, "/vgpreload_core") != nullptr;
}

// For a thread that runs code of the library. MemorySanitizer does not see what code that is not compiled for
// it writes, but does check what that code passes to functions of the C library, which would end the program
// with a report about the library. It still checks all that the program's own code does.
inline void quiet_memory_sanitizer() noexcept {
    if (__msan_scoped_disable_interceptor_checks != nullptr) __msan_scoped_disable_interceptor_checks();
}

} // namespace zipmpi::os
