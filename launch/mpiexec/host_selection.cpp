// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/host_selection.hpp"

#include "launch/mpiexec/allocation.hpp"

#include "os/fd.hpp"
#include "os/host.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

constexpr size_t file_limit = 64U << 20;
constexpr const char* name_hosts = "write for example: --host node1:4,node2:4";

bool is_this_host(const std::string& name) {
    const std::string own = os::host_name();
    return name == "localhost" || name == own || name == own.substr(0, own.find('.'));
}

Diagnostic invalid_host_list(const std::string& where, const std::string& wrong, const char* fix) {
    return {"the list of hosts is not valid", where,
            wrong.empty() ? "it has no hosts" : "'" + wrong + "' is not a host", fix};
}

// Within a step, SLURM_TASKS_PER_NODE is that of the step and can have fewer hosts than the job.
bool read_slurm_hosts(const std::string& nodes, const char* const* environ_like, HostList& hosts,
                      std::string& wrong) {
    const std::string tasks = find_variable(environ_like, "SLURM_TASKS_PER_NODE");
    if (parse_slurm(nodes, tasks, hosts, wrong)) return true;
    const std::string cpus = find_variable(environ_like, "SLURM_JOB_CPUS_PER_NODE");
    return !cpus.empty() && parse_slurm(nodes, cpus, hosts, wrong);
}

bool read_allocation(const BatchSystem& system, const char* const* environ_like, HostList& hosts,
                     Diagnostic& why) {
    const std::string value = find_variable(environ_like, system.variable);
    std::string wrong;
    if (system.format == HostFormat::file) return read_host_file(value, hosts, why);
    if (system.format == HostFormat::pairs ? parse_host_pairs(value, hosts, wrong)
                                           : read_slurm_hosts(value, environ_like, hosts, wrong))
        return true;
    why = invalid_host_list(system.variable + std::string(" of the environment, set by ") + system.name,
                            wrong, "name the hosts with --host");
    return false;
}

} // namespace

bool read_whole_file(const std::string& path, const char* what, std::string& text, Diagnostic& why) {
    const os::Fd f(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    char buffer[1U << 16];
    ssize_t n = -1;
    while (f && text.size() < file_limit && (n = read(f.get(), buffer, sizeof buffer)) > 0)
        text.append(buffer, static_cast<size_t>(n));
    if (n == 0) return true;
    why = {std::string(what) + " cannot be read", path, std::strerror(errno),
           "check its name and permissions"};
    return false;
}

bool read_host_file(const std::string& path, HostList& hosts, Diagnostic& why) {
    std::string text;
    std::string wrong;
    if (!read_whole_file(path, "the host file", text, why)) return false;
    if (parse_host_file(text, hosts, wrong)) return true;
    why = invalid_host_list(path, wrong, "write one host per line: node1 slots=4");
    return false;
}

bool expand_host_group(const std::string& group, const std::string& option, std::string& list,
                       Diagnostic& why) {
    HostList hosts;
    std::string wrong;
    if (!parse_slurm(group, "", hosts, wrong)) {
        why = invalid_host_list(option + " " + group, wrong, name_hosts);
        return false;
    }
    list.clear();
    for (const Host& h : hosts)
        for (uint32_t i = 0; i < h.slots; ++i) list += (list.empty() ? "" : ",") + h.name;
    return true;
}

std::string host_file_of(const Options& options, const std::string& named, const char* const* environ_like) {
    if (!named.empty()) return {};
    if (!options.hostfile.empty()) return options.hostfile;
    const BatchSystem* const system = find_batch_system(environ_like);
    if (system == nullptr) return options.default_hostfile;
    return system->format == HostFormat::file ? find_variable(environ_like, system->variable) : std::string();
}

bool choose_hosts(const Options& options, const std::string& named, const char* const* environ_like,
                  HostList& hosts, Diagnostic& why) {
    std::string wrong;
    const std::string file = host_file_of(options, named, environ_like);
    if (!named.empty()) {
        if (!parse_host_option(named, hosts, wrong)) {
            why = invalid_host_list("--host " + named, wrong, name_hosts);
            return false;
        }
    } else if (!file.empty()) {
        if (!read_host_file(file, hosts, why)) return false;
    } else if (const BatchSystem* const system = find_batch_system(environ_like);
               system != nullptr && !read_allocation(*system, environ_like, hosts, why)) {
        return false;
    }
    if (!options.no_local) return true;
    std::erase_if(hosts, [](const Host& h) { return is_this_host(h.name); });
    if (!hosts.empty()) return true;
    why = {"no host is left", "command line of mpiexec",
           "--nolocal excludes this host, and no other host is given",
           "name other hosts with --host, or remove --nolocal"};
    return false;
}

std::string automatic_agent(const HostList& hosts, const char* const* environ_like) {
    const BatchSystem* const system = find_batch_system(environ_like);
    HostList allocated;
    Diagnostic not_readable;
    if (system == nullptr || !read_allocation(*system, environ_like, allocated, not_readable))
        return ssh_agent;
    const auto is_allocated = [&](const Host& h) {
        return std::ranges::find(allocated, h.name, &Host::name) != allocated.end();
    };
    const std::string agent = batch_agent(*system, environ_like);
    return agent.empty() || !std::ranges::all_of(hosts, is_allocated) ? ssh_agent : agent;
}

bool read_host_lines(const Options& options, const std::string& path, std::vector<std::string>& names,
                     Diagnostic& why) {
    std::string text;
    if (!read_whole_file(path, "the host file", text, why)) return false;
    for (std::string_view rest = text; !rest.empty();) {
        const std::string line(rest.substr(0, rest.find('\n')));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        HostList one;
        std::string wrong;
        if (!parse_host_file(line, one, wrong) && !wrong.empty()) {
            why = invalid_host_list(path, wrong, "write one host per line, one line for each rank");
            return false;
        }
        if (!one.empty()) names.push_back(one[0].name);
    }
    if (options.no_local) std::erase_if(names, is_this_host);
    return true;
}

bool is_only_this_host(const HostList& hosts) { return hosts.size() == 1 && is_this_host(hosts[0].name); }

} // namespace zipmpi::launch
