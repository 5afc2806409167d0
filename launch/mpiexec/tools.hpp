// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// --gdb, --xterm, -gtool: ranks started under another command, with or without a terminal window.
#pragma once

#include "launch/mpiexec/options.hpp"

namespace zipmpi::launch {

// Prefixes the program with a small script that selects the command by rank. Returns false if a window is
// required and none is available. getenv_like: for DISPLAY and TMUX.
bool add_tools(const std::vector<Tool>& tools, const char* (*getenv_like)(const char*), AppContext& app,
               Diagnostic& why);

} // namespace zipmpi::launch
