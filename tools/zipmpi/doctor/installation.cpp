// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Checks of this installation: modules with the libraries that they load, and the daemon.
#include "doctor/doctor.hpp"
#include "doctor/subprocess.hpp"

#include "boot/pmix/module.hpp"
#include "hwtopo/topology_module.hpp"
#include "os/module_folder.hpp"
#include "transport/discovery/ofi_devices.hpp"
#include "transport/engine.hpp"
#include "transport/network.hpp"
#include "transport/ofi/ofi_module.hpp"
#include "transport/ucx/ucx_module.hpp"

#include <cstring>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zipmpi::tool {
namespace {

struct Module {
    const char* file;
    const char* missing_effect; // effect of the absence
    const char* package;        // of its library
};
constexpr Module modules[] = {
    {"zipmpi_crypto.so", "jobs over several hosts do not start", "libssl3"},
    {transport::ucx::module_file, "jobs over several hosts use no RDMA", "libucx0"},
    {boot::pmix_module_file, "programs do not start under srun --mpi=pmix and Open MPI's mpirun", "libpmix2"},
    {"zipmpi_pmix_server.so", "programs of Open MPI do not start under this mpiexec", "libpmix2"},
    {hwtopo::module_file, "caches and sockets are unknown, so ranks are placed by core numbers",
     "libhwloc15"},
};

// Loads the module in a separate process, because libraries run code when loaded. Empty: it works.
std::string load_error(const std::string& file) {
    int fds[2];
    if (pipe(fds) != 0) return std::strerror(errno);
    const pid_t child = fork();
    if (child == 0) {
        const char* text = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr ? dlerror() : nullptr;
        if (text != nullptr && write(fds[1], text, std::strlen(text)) < 0) _exit(1);
        _exit(0);
    }
    close(fds[1]);
    std::string text(2000, '\0');
    const ssize_t n = child < 0 ? 0 : read(fds[0], text.data(), text.size());
    text.resize(n > 0 ? static_cast<size_t>(n) : 0);
    close(fds[0]);
    int status = 0;
    if (child > 0) waitpid(child, &status, 0);
    return text.empty() && status != 0 ? "the process ended while loading it" : text;
}

// Whether the module is there and can be loaded.
bool check_module(const Module& m, Findings& found) {
    std::string file = os::module_path(m.file);
    if (const std::string beside = own_folder() + "/" + m.file; access(beside.c_str(), R_OK) == 0)
        file = beside; // as in a build folder
    if (access(file.c_str(), R_OK) != 0) {
        found.push_back({"module", std::string("the module ") + m.file + " is missing", m.missing_effect,
                         std::string("reinstall ZipMPI, built with the development files of ") + m.package +
                             "; expected at " + file});
        return false;
    }
    const std::string fault = load_error(file);
    if (!fault.empty())
        found.push_back({"library", std::string("the module ") + m.file + " cannot be loaded",
                         std::string(m.missing_effect) + ": " + fault,
                         std::string("apt install ") + m.package +
                             ", or remove the directory that hides it from LD_LIBRARY_PATH"});
    return fault.empty();
}

// Only hosts with certain devices need libfabric.
void check_libfabric(Findings& found) {
    const std::string devices = transport::discovery::ofi_devices();
    if (devices.empty()) return;
    const std::string effect = "jobs over several hosts do not use " + devices;
    if (check_module({transport::ofi::module_file, effect.c_str(), "libfabric1"}, found) &&
        !transport::device_kinds_of_host().ofi)
        found.push_back(
            {"fabric-provider", "libfabric is not used for " + devices, effect,
             "fi_info -l lists the providers of libfabric: install the one of the device's vendor, and "
             "unset net.engine, net.seal and net.ofi_provider"});
}

} // namespace

void check_modules(Findings& found) {
    for (const Module& m : modules) check_module(m, found);
    check_libfabric(found);
}

std::string version_of_daemon() {
    constexpr const char* begin = "zipmpi-noded (ZipMPI) ";
    const CommandResult ran = run_all({{own_folder() + "/zipmpi-noded", "--version"}}, 3)[0];
    if (ran.status != 0 || !ran.out.starts_with(begin)) return {};
    const std::string version = ran.out.substr(std::strlen(begin));
    return version.substr(0, version.find('\n'));
}

void check_daemon(Findings& found) {
    const std::string daemon = own_folder() + "/zipmpi-noded";
    if (access(daemon.c_str(), X_OK) != 0) {
        found.push_back({"daemon", "zipmpi-noded is not next to zipmpi",
                         "mpiexec on other hosts starts " + daemon + " here, and fails",
                         "reinstall ZipMPI: all its programs must be in one folder"});
        return;
    }
    const std::string version = version_of_daemon();
    if (version != ZIPMPI_VERSION)
        found.push_back({"version",
                         "zipmpi-noded has " +
                             (version.empty() ? std::string("an older version") : "version " + version) +
                             ", zipmpi has version " ZIPMPI_VERSION,
                         "daemons and ranks of a job must have the same version",
                         "reinstall ZipMPI: files of two versions are mixed in " + own_folder()});
}

} // namespace zipmpi::tool
