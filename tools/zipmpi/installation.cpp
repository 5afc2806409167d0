// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "info.hpp"

#include "base/param.hpp"
#include "os/host.hpp"
#include "wire/envelope.hpp"

#include <fmt/format.h>

namespace zipmpi::tool {
namespace {

std::string compiler() {
#if defined(__clang__)
    return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
    return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::string field(const Json& object, const char* key) { return object.at(key).get<std::string>(); }

std::string param_value(std::string_view name) {
    for (const ParamBase* p : all_params())
        if (name == p->name()) return p->value_text();
    return "?";
}

std::string changed_params(const Json& params) {
    std::string out;
    for (const Json& k : params)
        if (field(k, "origin") != "built in")
            out += fmt::format("\n  {} = {} (from the {}, default {})", field(k, "name"), field(k, "value"),
                               field(k, "origin"), field(k, "default"));
    return out.empty() ? "\n  all have their defaults" : out;
}

} // namespace

Json installation_facts() {
    return {{"version", ZIPMPI_VERSION},       {"abi", "MPI 5.0 standard ABI, libmpi_abi.so.1"},
            {"compiler", compiler()},          {"build_type", ZIPMPI_BUILD_TYPE},
            {"sanitizers", ZIPMPI_SANITIZERS}, {"host", os::host_name()},
            {"usable_cpus", os::usable_cpus()}};
}

Json transport_facts() {
    return Json::array(
        {{{"peers", "a rank and itself"}, {"transport", "self"}, {"why", "copied once within the process"}},
         {{"peers", "ranks on this host"},
          {"transport", "shared memory"},
          {"why", fmt::format("slots of {} bytes, cells of {}; CMA copies: see below", wire::cache_line,
                              param_value("shm.cell_size"))}},
         {{"peers", "ranks on other hosts"},
          {"transport", "UCX"},
          {"why", "over RDMA or TCP; own TCP connections with net.engine=tcp, libfabric with ofi; see "
                  "`zipmpi info --network`"}}});
}

std::string overview_text(const Json& facts) {
    const Json& i = facts.at("installation");
    std::string out = fmt::format(
        "ZipMPI {}\n  interface   {}\n  build       {}, {}{}\n  host        {}, {} "
        "usable CPU{}\n",
        field(i, "version"), field(i, "abi"), field(i, "compiler"), field(i, "build_type"),
        field(i, "sanitizers").empty() ? "" : ", sanitizers " + field(i, "sanitizers"), field(i, "host"),
        i.at("usable_cpus").get<int>(), i.at("usable_cpus").get<int>() == 1 ? "" : "s");
    const Json& l = facts.at("launch");
    out += fmt::format("\nlaunch protocol of a program started here\n  {}: {}\n", field(l, "protocol"),
                       field(l, "why"));
    if (l.contains("fix")) out += fmt::format("  fix: {}\n", field(l, "fix"));
    out += "\ntransports\n";
    for (const Json& t : facts.at("transports"))
        out += fmt::format("  {:<22}{:<15}{}\n", field(t, "peers"), field(t, "transport"), field(t, "why"));
    out += paths_text(facts.at("paths"));
    out += fmt::format("\n{} parameters{}\n  zipmpi info --params lists them with their help\n",
                       facts.at("parameters").size(), changed_params(facts.at("parameters")));
    const Json& c = facts.at("coverage");
    out +=
        fmt::format("\n{} of {} MPI functions implemented\n  zipmpi info --coverage counts them by chapter, "
                    "with --missing it lists the others\n",
                    c.at("implemented").get<int>(), c.at("functions").get<int>());
    return out;
}

} // namespace zipmpi::tool
