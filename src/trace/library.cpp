// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "trace/library.hpp"

#include "base/diagnostic.hpp"

#include <cstdlib>
#include <dlfcn.h>

namespace zipmpi::trace {

void* find_symbol(const char* name) noexcept {
    // A library that a program has opened for itself (an extension of Python) is not in the global scope.
    static void* const library = dlopen(ZIPMPI_TRACED_LIBRARY, RTLD_LAZY | RTLD_NOLOAD);
    void* const found = dlsym(library != nullptr ? library : RTLD_DEFAULT, name);
    if (found != nullptr) return found;
    report({"a call cannot be recorded", ZIPMPI_TRACED_LIBRARY, std::string("the library has no ") + name,
            "start the program without --profile and --trace"});
    std::abort();
}

} // namespace zipmpi::trace
