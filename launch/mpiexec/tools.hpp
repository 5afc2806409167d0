// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// --gdb, --xterm, -gtool: ranks that are started under another command, in a window or not.
#pragma once

#include "launch/mpiexec/options.hpp"

namespace zipmpi::launch {

// Puts a small script in front of the program, which chooses by the number of the rank. False: there is no
// window for those that want one. getenv_like: for DISPLAY and TMUX.
bool add_tools(const std::vector<Tool>& tools, const char* (*getenv_like)(const char*), AppContext& app,
               Problem& why);

} // namespace zipmpi::launch
