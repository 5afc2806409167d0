// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Options about ranks, programs and hosts.
#include "launch/mpiexec/actions.hpp"
#include "launch/mpiexec/host_selection.hpp"
#include "launch/mpiexec/options.hpp"
#include "launch/placement/max_ranks.hpp"

#include <sys/utsname.h>

namespace zipmpi::launch::act {
namespace {

bool read_file_name(const Use& use, std::string& out, Diagnostic& why) {
    out = use.value();
    return !out.empty() || bad_value(use, "is not the name of a file", "name a file", why);
}

} // namespace

bool ranks(const Use& use, Draft& draft, Diagnostic& why) {
    long n = 0;
    if (!parse_whole_number(use, 1, max_ranks, n, why))
        return bad_value(use, "is not a number of ranks from 1 to " + std::to_string(max_ranks),
                         "write for example: mpiexec -n 4 ./a.out", why);
    draft.app.context.ranks = static_cast<uint32_t>(n);
    draft.app.ranks_given = true;
    return true;
}

bool soft(const Use& use, Draft& draft, Diagnostic& why) {
    const std::string text = use.value();
    if (text.empty() || text.find_first_not_of("0123456789,:") != std::string::npos)
        return bad_value(use, "is not a list of numbers or FIRST:LAST:STEP", "write for example: -soft 2:8:2",
                         why);
    draft.app.soft = text;
    return true;
}

bool config_file(const Use& use, Draft& draft, Diagnostic& why) {
    std::string name;
    if (!read_file_name(use, name, why)) return false;
    draft.job.config_files.push_back(name);
    return true;
}

bool initial_errhandler(const Use& use, Draft& draft, Diagnostic& why) {
    const std::string name = lower_case(use.value());
    if (name != "mpi_errors_are_fatal" && name != "mpi_errors_abort" && name != "mpi_errors_return")
        return bad_value(use, "is not an error handler that MPI defines",
                         "write mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return", why);
    draft.job.env.push_back("ZIPMPI_INITIAL_ERRHANDLER=" + name);
    return true;
}

bool memory_alloc_kinds(const Use& use, Draft& draft, Diagnostic& /*why*/) {
    draft.job.env.push_back("ZIPMPI_MEMORY_ALLOC_KINDS=" + use.value());
    return true;
}

bool arch(const Use& use, Draft& /*draft*/, Diagnostic& why) {
    utsname own{};
    uname(&own);
    const std::string_view machine(own.machine);
    if (use.value() == machine || (use.value() == "amd64" && machine == "x86_64")) return true;
    return bad_value(use, "is not the architecture of this host, " + std::string(machine),
                     "remove it, or start mpiexec on a host of that architecture", why);
}

bool universe_size(const Use& use, Draft& draft, Diagnostic& why) {
    const std::string text = lower_case(use.value());
    if (text == "system" || text == "infinite") return accept(use, draft, why);
    why = {"the option " + use.written + " is not supported", use.where,
           "MPI_UNIVERSE_SIZE is the number of slots of the hosts", "set hosts and slots with --host"};
    return false;
}

bool host(const Use& use, Draft& draft, Diagnostic& /*why*/) {
    draft.app.host += (draft.app.host.empty() ? "" : ",") + use.value();
    return true;
}

bool hosts(const Use& use, Draft& draft, Diagnostic& /*why*/) {
    draft.job.host = use.value();
    return true;
}

bool hosts_group(const Use& use, Draft& draft, Diagnostic& why) {
    return expand_host_group(use.value(), use.written, draft.job.host, why);
}

bool host_file(const Use& use, Draft& draft, Diagnostic& why) {
    return read_file_name(use, draft.job.hostfile, why);
}

bool default_host_file(const Use& use, Draft& draft, Diagnostic& why) {
    return read_file_name(use, draft.job.default_hostfile, why);
}

bool cluster_file(const Use& use, Draft& draft, Diagnostic& why) {
    return read_file_name(use, draft.job.cluster_file, why);
}

bool no_local(const Use& /*use*/, Draft& draft, Diagnostic& /*why*/) {
    draft.job.no_local = true;
    return true;
}

bool no_oversubscribe(const Use& /*use*/, Draft& draft, Diagnostic& /*why*/) {
    draft.job.no_oversubscribe = true;
    return true;
}

} // namespace zipmpi::launch::act
