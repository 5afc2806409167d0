// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// `zipmpi env`: variables for programs of other MPIs under launchers other than mpiexec.
#pragma once

#include <string>

namespace zipmpi::tool {

struct EnvOptions {
    std::string shell = "sh"; // sh, csh, fish
    bool module = false;      // a module file instead
};

int run_env(const EnvOptions& options);

} // namespace zipmpi::tool
