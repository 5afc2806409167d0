// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Support for tools that track initialized memory: valgrind and MemorySanitizer.
#pragma once

#include <cstdlib>
#include <cstring>

// Defined by the MemorySanitizer runtime if the application is instrumented.
// NOLINTNEXTLINE(bugprone-reserved-identifier): name given by the runtime
extern "C" __attribute__((weak)) void __msan_scoped_disable_interceptor_checks(void);

namespace zipmpi::os {

// True if this process runs under valgrind, which does not see what other processes write into its memory.
// valgrind preloads its own library into each process.
inline bool under_valgrind() noexcept {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): called once, when the library starts
    const char* const preloaded = std::getenv("LD_PRELOAD");
    return preloaded != nullptr && std::strstr(preloaded, "/vgpreload_core") != nullptr;
}

// Called by a thread that runs library code. MemorySanitizer does not see writes of uninstrumented code, but
// checks what that code passes to the C library, and would end the program with a false report. Checks of
// user code stay active.
inline void suppress_memory_sanitizer() noexcept {
    if (__msan_scoped_disable_interceptor_checks != nullptr) __msan_scoped_disable_interceptor_checks();
}

} // namespace zipmpi::os
