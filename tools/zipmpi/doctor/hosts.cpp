// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Checks of other hosts: reached through the launch agent as by mpiexec; the doctor of their installation
// runs there.
#include "doctor/doctor.hpp"
#include "doctor/subprocess.hpp"

#include "launch/tree/agent.hpp"

#include <cmath>
#include <fmt/format.h>

namespace zipmpi::tool {
namespace {

constexpr double max_clock_skew = 0.5;

std::string first_line(const std::string& text) {
    const std::string line = text.substr(0, text.find('\n'));
    return line.empty() ? "it printed nothing" : "its output: " + line;
}

bool stderr_contains(const CommandResult& ran, const char* text) {
    return ran.err.find(text) != std::string::npos;
}

Finding unreachable_finding(const std::string& host, const std::string& agent, const CommandResult& ran) {
    const std::string why = "mpiexec starts a daemon on each host through '" + agent + "': ";
    if (ran.timed_out)
        return {"agent-silent", "host " + host + " does not respond",
                why + "it was still running after the time limit, waiting for input or for the network",
                "try manually: " + agent + " " + host +
                    " true; it must end immediately without a prompt (ssh-copy-id " + host +
                    " installs a key)"};
    if (stderr_contains(ran, "Permission denied") || stderr_contains(ran, "assword") ||
        stderr_contains(ran, "passphrase"))
        return {"agent-login", "host " + host + " requires a password", why + first_line(ran.err),
                "ssh-keygen -t ed25519 if you have no key, then ssh-copy-id " + host +
                    "; a key with a passphrase needs ssh-agent and ssh-add"};
    if (stderr_contains(ran, "Host key verification failed"))
        return {"agent-host-key", "the key of host " + host + " is unknown or has changed",
                why + first_line(ran.err),
                "ssh " + host +
                    " once manually and accept its key; if the host was "
                    "reinstalled: ssh-keygen -R " +
                    host};
    if (ran.status == 127 && stderr_contains(ran, "No such file") && ran.out.empty() &&
        !stderr_contains(ran, "zipmpi"))
        return {"agent-missing", "the launch agent cannot be started", why + first_line(ran.err),
                "install it (Debian: openssh-client), or set another one: --launch-agent \"ssh -p 2222\""};
    return {"host-unreachable", "host " + host + " is not reachable", why + first_line(ran.err),
            "check the name (getent hosts " + host + "), that the host is up, and that sshd listens there"};
}

Finding not_installed_finding(const std::string& host, const CommandResult& ran) {
    return {"not-installed", "ZipMPI is not at " + own_folder() + " on host " + host,
            "mpiexec starts zipmpi-noded at the same path on all hosts; " + first_line(ran.err),
            "install the same version at the same path on all hosts, or use a shared folder"};
}

std::string_view minor_version(std::string_view version) { return version.substr(0, version.rfind('.')); }

void compare_host(const std::string& host, const Json& facts, const CommandResult& ran, Findings& found) {
    const auto version = facts.at("zipmpi").get<std::string>();
    const auto daemon = facts.at("daemon").get<std::string>();
    const std::string fix = "install version " ZIPMPI_VERSION " in " + own_folder() + " on " + host;
    if (minor_version(version) != minor_version(ZIPMPI_VERSION))
        found.push_back({"version",
                         fmt::format("host {} has ZipMPI {}, this one {}", host, version, ZIPMPI_VERSION),
                         "only patch releases of one minor version can be mixed in a job", fix});
    else if (!daemon.empty() && daemon != version)
        found.push_back(
            {"version",
             fmt::format("zipmpi-noded on host {} has version {}, zipmpi there {}", host, daemon, version),
             "daemons and ranks of a host must have the same version", fix});
    const double middle = (ran.start_time + ran.end_time) / 2;
    const double clock_skew = facts.at("clock").get<double>() - middle;
    if (std::abs(clock_skew) > max_clock_skew + (ran.end_time - ran.start_time) / 2)
        found.push_back({"clock",
                         fmt::format("the clock of host {} is {:.1f} s {}", host, std::abs(clock_skew),
                                     clock_skew > 0 ? "ahead" : "behind"),
                         "time stamps of output and files, and make, are inconsistent; MPI does not "
                         "depend on it",
                         "run a time service on all hosts: apt install systemd-timesyncd, or chrony"});
}

HostReport classify_host(const std::string& host, const std::string& agent, const CommandResult& ran) {
    HostReport report{host, {}};
    const Json facts = Json::parse(ran.out);
    if (ran.status == 0 && facts.is_object() && facts.contains("zipmpi")) {
        report.found = findings_from(facts.at("findings"));
        compare_host(host, facts, ran, report.found);
    } else if (!ran.timed_out && (ran.status == 127 || ran.status == 126 || ran.status == 2) &&
               stderr_contains(ran, "zipmpi")) {
        report.found.push_back(not_installed_finding(host, ran));
    } else {
        report.found.push_back(unreachable_finding(host, agent, ran));
    }
    return report;
}

} // namespace

std::vector<HostReport> check_hosts(const DoctorOptions& options) {
    const std::vector<std::string> hosts = split_list(options.hosts, ',');
    std::vector<std::string> agent;
    if (hosts.empty()) return {};
    if (!launch::split_words(options.agent, agent))
        return {{"all",
                 {{"agent-missing", "the launch agent is not a command", "'" + options.agent + "'",
                   "write for example: --launch-agent \"ssh -p 2222\""}}}};
    std::vector<std::vector<std::string>> commands;
    for (const std::string& host : hosts) {
        commands.push_back(launch::agent_command(agent, host));
        for (const std::string& arg :
             {launch::shell_quote(own_folder() + "/zipmpi"), std::string("doctor"), std::string("--as-peer")})
            commands.back().push_back(arg);
    }
    const std::vector<CommandResult> ran = run_all(commands, options.timeout);
    std::vector<HostReport> reports;
    for (size_t i = 0; i < hosts.size(); ++i)
        reports.push_back(classify_host(hosts[i], options.agent, ran[i]));
    return reports;
}

} // namespace zipmpi::tool
