// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The parts of this installation: modules with the libraries that they load, and the daemon.
#include "doctor/doctor.hpp"
#include "doctor/run.hpp"

#include "boot/module_folder.hpp"
#include "boot/pmix/module.hpp"
#include "topo/module.hpp"
#include "transport/ucx/network.hpp"

#include <cstring>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zipmpi::tool {
namespace {

struct Module {
    const char* file;
    const char* without; // what does not work then
    const char* package; // of its library
};
constexpr Module modules[] = {
    {transport::ucx::module_file, "jobs over several hosts do not start", "libucx0"},
    {boot::pmix_module_file, "programs do not start under srun --mpi=pmix and Open MPI's mpirun", "libpmix2"},
    {"zipmpi_pmix_server.so", "programs of Open MPI do not start under this mpiexec", "libpmix2"},
    {topo::module_file, "caches and sockets are not known, so ranks are placed by the numbers of cores",
     "libhwloc15"},
};

// Loaded in a process of its own: what libraries do when they are loaded is not ours. Empty: it works.
std::string fault_of(const std::string& file) {
    int answer[2];
    if (pipe(answer) != 0) return std::strerror(errno);
    const pid_t child = fork();
    if (child == 0) {
        const char* text = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr ? dlerror() : nullptr;
        if (text != nullptr && write(answer[1], text, std::strlen(text)) < 0) _exit(1);
        _exit(0);
    }
    close(answer[1]);
    std::string text(2000, '\0');
    const ssize_t n = child < 0 ? 0 : read(answer[0], text.data(), text.size());
    text.resize(n > 0 ? static_cast<size_t>(n) : 0);
    close(answer[0]);
    int status = 0;
    if (child > 0) waitpid(child, &status, 0);
    return text.empty() && status != 0 ? "loading it ended the process" : text;
}

} // namespace

void check_modules(Findings& found) {
    for (const Module& m : modules) {
        std::string file = boot::module_path(m.file);
        if (const std::string beside = own_folder() + "/" + m.file; access(beside.c_str(), R_OK) == 0)
            file = beside; // as in a build folder
        if (access(file.c_str(), R_OK) != 0) {
            found.push_back({"module", std::string("the module ") + m.file + " is missing", m.without,
                             std::string("install ZipMPI anew, built where the development files of ") +
                                 m.package + " are; expected at " + file});
            continue;
        }
        if (const std::string fault = fault_of(file); !fault.empty())
            found.push_back(
                {"library", std::string("the module ") + m.file + " cannot be loaded",
                 std::string(m.without) + ": " + fault,
                 std::string("apt install ") + m.package + ", or remove what hides it from LD_LIBRARY_PATH"});
    }
}

std::string version_of_daemon() {
    constexpr const char* begin = "zipmpi-noded (ZipMPI) ";
    const Ran ran = run_all({{own_folder() + "/zipmpi-noded", "--version"}}, 3)[0];
    if (ran.status != 0 || !ran.out.starts_with(begin)) return {};
    const std::string version = ran.out.substr(std::strlen(begin));
    return version.substr(0, version.find('\n'));
}

void check_daemon(Findings& found) {
    const std::string daemon = own_folder() + "/zipmpi-noded";
    if (access(daemon.c_str(), X_OK) != 0) {
        found.push_back({"daemon", "zipmpi-noded is not beside zipmpi",
                         "mpiexec on other hosts starts " + daemon + " here, and fails",
                         "install ZipMPI anew: all its programs belong into one folder"});
        return;
    }
    const std::string version = version_of_daemon();
    if (version != ZIPMPI_VERSION)
        found.push_back(
            {"version",
             "zipmpi-noded is " +
                 (version.empty() ? std::string("of an older version") : "of version " + version) +
                 ", zipmpi of version " ZIPMPI_VERSION,
             "daemons and ranks of one job must be of one version",
             "install ZipMPI anew: files of two versions are mixed in " + own_folder()});
}

} // namespace zipmpi::tool
