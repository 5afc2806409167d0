// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Other hosts: reached in the way in which mpiexec reaches them, where the doctor of their installation
// looks.
#include "doctor/doctor.hpp"
#include "doctor/run.hpp"

#include "launch/tree/agent.hpp"

#include <cmath>
#include <fmt/format.h>

namespace zipmpi::tool {
namespace {

constexpr double most_seconds_apart = 0.5;

std::string first_line(const std::string& text) {
    const std::string line = text.substr(0, text.find('\n'));
    return line.empty() ? "it said nothing" : "it said: " + line;
}

bool says(const Ran& ran, const char* words) { return ran.err.find(words) != std::string::npos; }

Finding unreachable(const std::string& host, const std::string& agent, const Ran& ran) {
    const std::string why = "mpiexec starts a daemon on each host through '" + agent + "': ";
    if (ran.too_long)
        return {
            "agent-silent", "host " + host + " does not answer",
            why +
                "it was still running after the time limit, asking for something or waiting for the network",
            "try by hand: " + agent + " " + host +
                " true; it must end at once and ask nothing (ssh-copy-id " + host + " installs a key)"};
    if (says(ran, "Permission denied") || says(ran, "assword") || says(ran, "passphrase"))
        return {"agent-login", "host " + host + " wants a password", why + first_line(ran.err),
                "ssh-keygen -t ed25519 if there is no key yet, then ssh-copy-id " + host +
                    "; a key with a passphrase needs ssh-agent and ssh-add"};
    if (says(ran, "Host key verification failed"))
        return {"agent-host-key", "the key of host " + host + " is not known or has changed",
                why + first_line(ran.err),
                "ssh " + host +
                    " once by hand and accept its key; if the host was "
                    "installed anew: ssh-keygen -R " +
                    host};
    if (ran.status == 127 && says(ran, "No such file") && ran.out.empty() && !says(ran, "zipmpi"))
        return {"agent-missing", "the launch agent cannot be started", why + first_line(ran.err),
                "install it (Debian: openssh-client), or name another: --launch-agent \"ssh -p 2222\""};
    return {"host-unreachable", "host " + host + " is not reached", why + first_line(ran.err),
            "check the name (getent hosts " + host + "), that the host is up, and that sshd listens there"};
}

Finding not_installed(const std::string& host, const Ran& ran) {
    return {"not-installed", "ZipMPI is not at " + own_folder() + " on host " + host,
            "mpiexec starts zipmpi-noded there by the path that it has here; " + first_line(ran.err),
            "install the same version at the same place on all hosts, or share the folder between them"};
}

void compare(const std::string& host, const Json& facts, const Ran& ran, Findings& found) {
    const auto version = facts.at("zipmpi").get<std::string>();
    const auto daemon = facts.at("daemon").get<std::string>();
    const std::string fix = "install version " ZIPMPI_VERSION " in " + own_folder() + " on " + host;
    if (version != ZIPMPI_VERSION)
        found.push_back({"version",
                         fmt::format("host {} has ZipMPI {}, this one {}", host, version, ZIPMPI_VERSION),
                         "daemons and ranks of one job must be of one version", fix});
    else if (!daemon.empty() && daemon != ZIPMPI_VERSION)
        found.push_back({"version",
                         fmt::format("zipmpi-noded on host {} is of version {}, this is {}", host, daemon,
                                     ZIPMPI_VERSION),
                         "daemons and ranks of one job must be of one version", fix});
    const double middle = (ran.began + ran.ended) / 2;
    const double apart = facts.at("clock").get<double>() - middle;
    if (std::abs(apart) > most_seconds_apart + (ran.ended - ran.began) / 2)
        found.push_back({"clock",
                         fmt::format("the clock of host {} is {:.1f} s {}", host, std::abs(apart),
                                     apart > 0 ? "ahead" : "behind"),
                         "times in the output of ranks, file times and make do not fit together; MPI itself "
                         "does not need it",
                         "run a time service on all hosts: apt install systemd-timesyncd, or chrony"});
}

HostReport judge(const std::string& host, const std::string& agent, const Ran& ran) {
    HostReport report{host, {}};
    const Json facts = Json::parse(ran.out);
    if (ran.status == 0 && facts.is_object() && facts.contains("zipmpi")) {
        report.found = findings_from(facts.at("findings"));
        compare(host, facts, ran, report.found);
    } else if (!ran.too_long && (ran.status == 127 || ran.status == 126 || ran.status == 2) &&
               says(ran, "zipmpi")) {
        report.found.push_back(not_installed(host, ran));
    } else {
        report.found.push_back(unreachable(host, agent, ran));
    }
    return report;
}

} // namespace

std::vector<HostReport> check_hosts(const DoctorOptions& options) {
    const std::vector<std::string> hosts = words_of(options.hosts, ',');
    std::vector<std::string> agent;
    if (hosts.empty()) return {};
    if (!launch::split_words(options.agent, agent))
        return {{"all",
                 {{"agent-missing", "the launch agent is not a command", "'" + options.agent + "'",
                   "write for example: --launch-agent \"ssh -p 2222\""}}}};
    std::vector<std::vector<std::string>> commands;
    for (const std::string& host : hosts) {
        commands.push_back(launch::with_host(agent, host));
        for (const std::string& word :
             {launch::for_a_shell(own_folder() + "/zipmpi"), std::string("doctor"), std::string("--as-peer")})
            commands.back().push_back(word);
    }
    const std::vector<Ran> ran = run_all(commands, options.timeout);
    std::vector<HostReport> reports;
    for (size_t i = 0; i < hosts.size(); ++i) reports.push_back(judge(hosts[i], options.agent, ran[i]));
    return reports;
}

} // namespace zipmpi::tool
