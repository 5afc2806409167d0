// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Shared objects that are loaded on need only, because their libraries are slow to load or may be missing.
// They lie beside the executable (build tree) or in ../lib/zipmpi (installed).
#pragma once

namespace zipmpi::launch {

// The address of a symbol in a module, or null if module, its libraries or the symbol are missing. A module
// stays loaded.
void* load_symbol(const char* module, const char* symbol);

} // namespace zipmpi::launch
