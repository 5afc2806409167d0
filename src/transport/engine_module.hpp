// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Loads a module that holds a network engine.
#pragma once

#include <string>

namespace zipmpi::transport {

// Loads the module, passes it net.ports and looks up a symbol. Returns null on failure, with the reason in
// why.
void* load_engine_symbol(const std::string& file, const char* symbol, std::string& why);

} // namespace zipmpi::transport
