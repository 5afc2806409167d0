// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How a rank of a job over several clusters reaches the others: the tool takes part in the job as any rank
// does.
#include "info.hpp"

#include "bridge/routes.hpp"
#include "core/state.hpp"
#include "os/host.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

namespace zipmpi::tool {
namespace {

Json names(const bridge::Grid& grid, const std::vector<int>& clusters) {
    Json list = Json::array();
    for (const int c : clusters) list.push_back(grid.clusters[static_cast<size_t>(c)].name);
    return list;
}

Json gateway_facts(const core::Engine& e, const bridge::Grid& grid, const bridge::GatewayPlace& g) {
    const int id = bridge::gateway_id(e.job.size, g.number);
    std::vector<int> clusters;
    Json devices = Json::object();
    for (const bridge::Attachment& a : g.attached) {
        clusters.push_back(a.cluster);
        std::string found;
        if (e.job.launcher->get(id, "devices." + std::to_string(a.cluster), found))
            devices[grid.clusters[static_cast<size_t>(a.cluster)].name] = found;
    }
    Json links = Json::array();
    for (const bridge::Link& l : g.links)
        links.push_back({{"to", grid.gateways[static_cast<size_t>(l.to_gateway)].host},
                         {"listens", !l.listen.empty()},
                         {"untrusted", l.untrusted}});
    std::string starts = "0";
    static_cast<void>(e.job.launcher->get(id, "epoch", starts));
    return {{"number", g.number}, {"host", g.host}, {"clusters", names(grid, clusters)},
            {"devices", devices}, {"links", links}, {"starts", std::atoi(starts.c_str())}};
}

std::string joined(const Json& list, const char* between = ", ") {
    std::string text;
    for (const Json& item : list) text += (text.empty() ? "" : between) + item.get<std::string>();
    return text;
}

} // namespace

Json link_facts() {
    const char* const text = std::getenv(bridge::grid_variable);
    bridge::Grid grid;
    if (text == nullptr || !bridge::parse(text, grid)) return {{"grid", false}};
    const core::Engine& e = core::start_engine(core::ThreadLevel::single);
    const std::vector<int>& own = grid.nodes[e.segment.node()].clusters;
    const bridge::Routes routes(grid);
    Json gateways = Json::array();
    for (const bridge::GatewayPlace& g : grid.gateways) gateways.push_back(gateway_facts(e, grid, g));
    Json lanes = Json::array();
    for (int c = 0; c < static_cast<int>(grid.clusters.size()); ++c) {
        if (std::find(own.begin(), own.end(), c) != own.end()) continue;
        const std::vector<int> to{c};
        const std::vector<int> through = routes.lanes(own, to);
        lanes.push_back({{"to", grid.clusters[static_cast<size_t>(c)].name},
                         {"gateways", through},
                         {"relays", through.empty() ? 0 : routes.distance(through[0], to)}});
    }
    Json facts{{"grid", true},
               {"rank", e.job.rank},
               {"host", os::host_name()},
               {"clusters", names(grid, own)},
               {"gateways", gateways},
               {"lanes", lanes}};
    core::leave_engine();
    return facts;
}

std::string links_text(const Json& facts) {
    if (!facts.at("grid").get<bool>())
        return "links are looked at in a job over clusters: mpiexec --grid campus.toml zipmpi info --links\n";
    std::string text =
        fmt::format("rank {} on host {}: cluster {}\n", facts.at("rank").get<int>(),
                    facts.at("host").get<std::string>(), joined(facts.at("clusters"), " and "));
    for (const Json& lane : facts.at("lanes")) {
        std::string through;
        for (const Json& g : lane.at("gateways")) through += fmt::format(" {}", g.get<int>());
        text += fmt::format("  to cluster {}: through gateway{}, {} on the way\n",
                            lane.at("to").get<std::string>(), through, lane.at("relays").get<int>());
    }
    for (const Json& g : facts.at("gateways")) {
        std::string devices;
        for (const auto& [cluster, names] : g.at("devices").items())
            devices += fmt::format(", {} by {}", cluster, names.get<std::string>());
        for (const Json& l : g.at("links"))
            devices +=
                fmt::format(", link {} {}{}", l.at("listens").get<bool>() ? "from" : "to",
                            l.at("to").get<std::string>(), l.at("untrusted").get<bool>() ? " (sealed)" : "");
        text += fmt::format("  gateway {} on {}: {}{}, started {} time{}\n", g.at("number").get<int>(),
                            g.at("host").get<std::string>(), joined(g.at("clusters"), " and "), devices,
                            g.at("starts").get<int>(), g.at("starts").get<int>() == 1 ? "" : "s");
    }
    return text;
}

} // namespace zipmpi::tool
