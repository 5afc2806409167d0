// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/info/launch_keys.hpp"

#include "base/param.hpp"
#include "core/device/devices.hpp"
#include "core/runtime_state.hpp"
#include "core/session.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <vector>

namespace zipmpi::core {
namespace {

Param<std::string> errhandler_setting{"initial.errhandler",
                                      "mpi_errors_are_fatal",
                                      "mpi_errors_are_fatal|mpi_errors_abort|mpi_errors_return",
                                      Level::user,
                                      Scope::job_wide,
                                      "initial error handler of MPI_COMM_WORLD, MPI_COMM_SELF and sessions; "
                                      "set by mpiexec --initial-errhandler"};

Param<std::string> kinds_setting{"memory.alloc_kinds",
                                 "",
                                 nullptr,
                                 Level::user,
                                 Scope::job_wide,
                                 "memory kinds that the application passes to MPI; set by mpiexec "
                                 "--memory-alloc-kinds; info objects list the supported ones"};

std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> parts;
    while (true) {
        const size_t end = text.find(at);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

bool is_supported(std::string_view kind) {
    const std::vector<std::string_view> parts = split(kind, ':');
    if (parts[0] == "system") return parts.size() == 1;
    if (device::supports(parts[0]))
        return std::all_of(parts.begin() + 1, parts.end(),
                           [&](std::string_view r) { return device::is_restrictor(parts[0], r); });
    constexpr std::string_view restrictors[] = {"alloc_mem", "win_allocate", "win_allocate_shared"};
    return parts[0] == "mpi" && std::all_of(parts.begin() + 1, parts.end(), [&](std::string_view r) {
               return std::find(std::begin(restrictors), std::end(restrictors), r) != std::end(restrictors);
           });
}

} // namespace

std::string initial_errhandler_name() {
    if (runtime() != nullptr) return errhandler_setting.get();
    const char* const value = std::getenv(initial_errhandler_variable); // parameters are read by MPI_Init
    for (const char* const name : {"mpi_errors_abort", "mpi_errors_return"})
        if (value != nullptr && std::string_view(value) == name) return name;
    return errhandler_setting.default_text();
}

std::string supported_memory_kinds(std::string_view requested) {
    std::vector<std::string_view> kinds;
    for (const std::string_view kind : split(requested, ','))
        if (is_supported(kind) && std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
            kinds.push_back(kind);
    for (const std::string_view required : {"mpi", "system"})
        if (std::none_of(kinds.begin(), kinds.end(),
                         [&](std::string_view kind) { return split(kind, ':')[0] == required; }))
            kinds.push_back(required);
    std::string text;
    for (const std::string_view kind : kinds) text.append(text.empty() ? "" : ",").append(kind);
    return text;
}

std::string memory_kinds_of(const Session* session) {
    const std::string* const session_kinds =
        session != nullptr ? session->hints.find(memory_kinds_key) : nullptr;
    if (session_kinds != nullptr) return *session_kinds;
    const char* const value = runtime() == nullptr ? std::getenv(memory_kinds_variable) : nullptr;
    return supported_memory_kinds(value != nullptr ? value : kinds_setting.get());
}

void add_launch_keys(Hints& hints) {
    hints.set(initial_errhandler_key, initial_errhandler_name());
    hints.set(memory_kinds_key, memory_kinds_of(nullptr));
}

} // namespace zipmpi::core
