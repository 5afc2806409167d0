// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "env.hpp"

#include "doctor/doctor.hpp"

#include "base/diagnostic.hpp"
#include "launch/program/binding_plan.hpp"

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>

namespace zipmpi::tool {
namespace {

std::string shell_lines(const std::string& shell, const std::string& folders) {
    const char* const now = std::getenv("LD_LIBRARY_PATH");
    if (shell == "csh")
        return fmt::format("setenv LD_LIBRARY_PATH \"{}{}{}\";\n", folders, now != nullptr ? ":" : "",
                           now != nullptr ? now : "");
    if (shell == "fish") return fmt::format("set -gx LD_LIBRARY_PATH \"{}\" $LD_LIBRARY_PATH\n", folders);
    return fmt::format("export LD_LIBRARY_PATH=\"{}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}\"\n", folders);
}

// In the language of Environment Modules, which Lmod reads too.
std::string module_lines(const std::string& folders) {
    const std::string bin = own_folder();
    return fmt::format(
        "#%Module1.0\n"
        "module-whatis \"ZipMPI {}: MPI library, also for programs built for Open MPI or MPICH\"\n"
        "prepend-path PATH \"{}\"\n"
        "prepend-path MANPATH \"{}/share/man\"\n"
        "prepend-path LD_LIBRARY_PATH \"{}\"\n",
        ZIPMPI_VERSION, bin, bin.substr(0, bin.rfind('/')), folders);
}

} // namespace

int run_env(const EnvOptions& options) {
    const launch::BindingFolders bindings = launch::installed_bindings();
    const bool both = !bindings.openmpi.empty() && !bindings.mpich.empty();
    const std::string folders = bindings.openmpi + (both ? ":" : "") + bindings.mpich;
    if (folders.empty()) {
        report({"there is nothing to set", "zipmpi env",
                "this installation has no libraries for programs of Open MPI and MPICH",
                "install ZipMPI with its bindings"},
               "zipmpi");
        return 1;
    }
    std::fputs((options.module ? module_lines(folders) : shell_lines(options.shell, folders)).c_str(),
               stdout);
    return 0;
}

} // namespace zipmpi::tool
