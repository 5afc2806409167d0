// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Dynamic process management with the ABI's arrays and strings.
#include "abi/custom.hpp"
#include "abi/entry.hpp"
#include "core/api/process.hpp"
#include "core/dpm/spawn.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::abi::custom {
namespace {

std::vector<std::string> argument_list(char** argv) {
    std::vector<std::string> arguments;
    for (; argv != MPI_ARGV_NULL && *argv != nullptr; ++argv) arguments.emplace_back(*argv);
    return arguments;
}

Err spawn_apps(const std::vector<core::AppSpec>& apps, int root, core::Comm& comm, core::Comm*& intercomm,
               int* errcodes) {
    const Err e = core::comm_spawn(apps, root, comm, intercomm);
    if (errcodes == MPI_ERRCODES_IGNORE) return e;
    int64_t processes = 0; // after a failure only the root has the requested number
    for (const core::AppSpec& app : apps) processes += std::max<int64_t>(app.processes, 0);
    if (e == Err::success) processes = core::size_of(*intercomm);
    std::fill_n(errcodes, processes, e == Err::success ? MPI_SUCCESS : MPI_ERR_SPAWN);
    return e;
}

void put_name(const std::string& name, char* out) {
    const size_t n = std::min<size_t>(name.size(), MPI_MAX_PORT_NAME - 1);
    std::memcpy(out, name.data(), n);
    out[n] = '\0';
}

} // namespace

Err comm_spawn(const char* command, char** argv, int maxprocs, core::Info* info, int root, core::Comm& comm,
               core::Comm*& intercomm, int* errcodes) {
    std::vector<core::AppSpec> apps;
    if (is_root(comm, root))
        apps.push_back({command, argument_list(argv), maxprocs,
                        info != nullptr ? core::hints_of(*info) : core::Hints()});
    return spawn_apps(apps, root, comm, intercomm, errcodes);
}

Err comm_spawn_multiple(int64_t count, char** commands, char*** argvs, const int* maxprocs,
                        const MPI_Info* infos, int root, core::Comm& comm, core::Comm*& intercomm,
                        int* errcodes) {
    std::vector<core::AppSpec> apps;
    for (int64_t i = 0; is_root(comm, root) && i < count; ++i) {
        if (commands == nullptr || commands[i] == nullptr || maxprocs == nullptr)
            return fail(Err::arg, "pass a command and a number of processes for each program",
                        "array_of_commands or array_of_maxprocs, or a command, is a null pointer");
        core::Info* const info = infos != nullptr ? find<core::Info>(infos[i]) : nullptr;
        apps.push_back({commands[i],
                        argvs != MPI_ARGVS_NULL ? argument_list(argvs[i]) : std::vector<std::string>(),
                        maxprocs[i], info != nullptr ? core::hints_of(*info) : core::Hints()});
    }
    return spawn_apps(apps, root, comm, intercomm, errcodes);
}

Err open_port(core::Info* info, char* name) {
    std::string text;
    const Err e = core::open_port(info, text);
    if (e == Err::success) put_name(text, name);
    return e;
}

Err lookup_name(const char* service, core::Info* info, char* name) {
    std::string text;
    const Err e = core::lookup_name(service, info, text);
    if (e == Err::success) put_name(text, name);
    return e;
}

} // namespace zipmpi::abi::custom
