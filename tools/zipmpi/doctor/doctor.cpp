// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "doctor/doctor.hpp"

#include "os/host.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>

namespace zipmpi::tool {
namespace {

Findings check_this_host(const std::vector<ParamError>& faults, bool several_hosts) {
    Findings found;
    check_kernel(found);
    check_limits(found);
    check_cgroups(found);
    check_processors(found);
    check_launch(found);
    check_search_paths(found);
    check_settings(faults, found);
    check_modules(found);
    check_daemon(found);
    check_network(several_hosts, found);
    check_scratch(found);
    return found;
}

size_t count_to_fix(const Findings& found) {
    size_t n = 0;
    for (const Finding& f : found) n += f.harmless ? 0 : 1;
    return n;
}

void print_host(const HostReport& report) {
    std::string out = fmt::format("host {}: ", report.host);
    const size_t n = count_to_fix(report.found);
    out += n == 0 ? "no problem found\n" : fmt::format("{} finding{}\n", n, n == 1 ? "" : "s");
    for (const Finding& f : report.found) {
        if (f.harmless) continue;
        out += fmt::format("\n  {}  [{}]\n    why: {}\n    fix: {}\n", f.what, f.id, f.why, f.fix);
    }
    for (const Finding& f : report.found)
        if (f.harmless) out += fmt::format("\n  harmless: {}  [{}]\n    why: {}\n", f.what, f.id, f.why);
    std::fwrite(out.data(), 1, out.size(), stdout);
}

Json peer_report(const Findings& found) {
    return {{"zipmpi", ZIPMPI_VERSION},
            {"daemon", version_of_daemon()},
            {"clock", wall_clock()},
            {"host", os::host_name()},
            {"findings", to_json(found)}};
}

void print_json(const std::vector<HostReport>& reports, size_t n) {
    Json hosts = Json::array();
    for (const HostReport& r : reports) hosts.push_back({{"host", r.host}, {"findings", to_json(r.found)}});
    const Json all{{"version", ZIPMPI_VERSION}, {"to_repair", n}, {"hosts", hosts}};
    std::puts(all.dump(2).c_str());
}

} // namespace

Json to_json(const Findings& found) {
    Json list = Json::array();
    for (const Finding& f : found)
        list.push_back(
            {{"id", f.id}, {"what", f.what}, {"why", f.why}, {"fix", f.fix}, {"harmless", f.harmless}});
    return list;
}

Findings findings_from(const Json& list) {
    Findings found;
    for (const Json& f : list)
        found.push_back({f.at("id").get<std::string>(), f.at("what").get<std::string>(),
                         f.at("why").get<std::string>(), f.at("fix").get<std::string>(),
                         f.at("harmless").get<bool>()});
    return found;
}

std::string own_folder() {
    char* real = realpath("/proc/self/exe", nullptr);
    const std::string path = real != nullptr ? real : "";
    std::free(real);
    return path.substr(0, path.rfind('/'));
}

double wall_clock() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::vector<std::string> split_list(const std::string& list, char separator) {
    std::vector<std::string> items;
    size_t begin = 0;
    while (begin <= list.size()) {
        const size_t end = std::min(list.find(separator, begin), list.size());
        if (end > begin) items.push_back(list.substr(begin, end - begin));
        begin = end + 1;
    }
    return items;
}

int run_doctor(const DoctorOptions& options, const std::vector<ParamError>& faults) {
    std::vector<HostReport> reports{
        {os::host_name(), check_this_host(faults, options.peer || !options.hosts.empty())}};
    if (options.peer) {
        std::puts(peer_report(reports[0].found).dump().c_str());
        return 0;
    }
    for (HostReport& r : check_hosts(options)) reports.push_back(std::move(r));
    size_t n = 0;
    for (const HostReport& r : reports) n += count_to_fix(r.found);
    if (options.json)
        print_json(reports, n);
    else
        for (const HostReport& r : reports) print_host(r);
    return n == 0 ? 0 : 1;
}

} // namespace zipmpi::tool
