// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Shared objects loaded on demand, because their libraries are slow to load or may be missing. They are next
// to the executable (build tree) or in ../lib/zipmpi (installed).
#pragma once

namespace zipmpi::launch {

// Address of a symbol in a module, or null if the module, its libraries or the symbol are missing. A module
// stays loaded.
void* load_symbol(const char* module, const char* symbol);

} // namespace zipmpi::launch
