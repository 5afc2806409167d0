// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Connections of a rank of a multi-cluster job: the tool takes part in the job as a rank.
#include "info.hpp"

#include "bridge/routes.hpp"
#include "core/runtime_state.hpp"
#include "os/host.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

namespace zipmpi::tool {
namespace {

Json names(const bridge::ClusterMap& map, const std::vector<int>& clusters) {
    Json list = Json::array();
    for (const int c : clusters) list.push_back(map.clusters[static_cast<size_t>(c)].name);
    return list;
}

Json gateway_facts(const core::Runtime& e, const bridge::ClusterMap& map, const bridge::GatewaySpec& g) {
    const int id = bridge::gateway_id(e.job.size, g.number);
    std::vector<int> clusters;
    Json devices = Json::object();
    for (const bridge::Attachment& a : g.attached) {
        clusters.push_back(a.cluster);
        std::string found;
        if (e.job.launcher->get(id, "devices." + std::to_string(a.cluster), found))
            devices[map.clusters[static_cast<size_t>(a.cluster)].name] = found;
    }
    Json links = Json::array();
    for (const bridge::GatewayLink& l : g.links)
        links.push_back({{"to", map.gateways[static_cast<size_t>(l.to_gateway)].host},
                         {"listens", !l.listen.empty()},
                         {"untrusted", l.untrusted}});
    std::string starts = "0";
    static_cast<void>(e.job.launcher->get(id, "epoch", starts));
    return {{"number", g.number}, {"host", g.host}, {"clusters", names(map, clusters)},
            {"devices", devices}, {"links", links}, {"starts", std::atoi(starts.c_str())}};
}

std::string joined(const Json& list, const char* between = ", ") {
    std::string text;
    for (const Json& item : list) text += (text.empty() ? "" : between) + item.get<std::string>();
    return text;
}

} // namespace

Json link_facts() {
    const char* const text = std::getenv(bridge::cluster_map_variable);
    bridge::ClusterMap map;
    if (text == nullptr || !bridge::parse(text, map)) return {{"grid", false}};
    const core::Runtime& e = core::start_runtime(core::ThreadLevel::single);
    const std::vector<int>& own_clusters = map.nodes[e.segment.node()].clusters;
    const bridge::RoutingTable routes(map);
    Json gateways = Json::array();
    for (const bridge::GatewaySpec& g : map.gateways) gateways.push_back(gateway_facts(e, map, g));
    Json paths = Json::array();
    for (int c = 0; c < static_cast<int>(map.clusters.size()); ++c) {
        if (std::find(own_clusters.begin(), own_clusters.end(), c) != own_clusters.end()) continue;
        const std::vector<int> to{c};
        const std::vector<int> through = routes.nearest_gateways(own_clusters, to);
        paths.push_back({{"to", map.clusters[static_cast<size_t>(c)].name},
                         {"gateways", through},
                         {"relays", through.empty() ? 0 : routes.distance(through[0], to)}});
    }
    Json facts{{"grid", true},
               {"rank", e.job.rank},
               {"host", os::host_name()},
               {"clusters", names(map, own_clusters)},
               {"gateways", gateways},
               {"paths", paths}};
    core::shut_down_runtime();
    return facts;
}

std::string links_text(const Json& facts) {
    if (!facts.at("grid").get<bool>())
        return "links exist only in a multi-cluster job: mpiexec --clusters campus.toml zipmpi info "
               "--links\n";
    std::string text =
        fmt::format("rank {} on host {}: cluster {}\n", facts.at("rank").get<int>(),
                    facts.at("host").get<std::string>(), joined(facts.at("clusters"), " and "));
    for (const Json& path : facts.at("paths")) {
        std::string through;
        for (const Json& g : path.at("gateways")) through += fmt::format(" {}", g.get<int>());
        text += fmt::format("  to cluster {}: through gateway{}, {} on the path\n",
                            path.at("to").get<std::string>(), through, path.at("relays").get<int>());
    }
    for (const Json& g : facts.at("gateways")) {
        std::string devices;
        for (const auto& [cluster, names] : g.at("devices").items())
            devices += fmt::format(", {} by {}", cluster, names.get<std::string>());
        for (const Json& l : g.at("links"))
            devices += fmt::format(", link {} {}{}", l.at("listens").get<bool>() ? "from" : "to",
                                   l.at("to").get<std::string>(),
                                   l.at("untrusted").get<bool>() ? " (encrypted)" : "");
        text += fmt::format("  gateway {} on {}: {}{}, started {} time{}\n", g.at("number").get<int>(),
                            g.at("host").get<std::string>(), joined(g.at("clusters"), " and "), devices,
                            g.at("starts").get<int>(), g.at("starts").get<int>() == 1 ? "" : "s");
    }
    return text;
}

} // namespace zipmpi::tool
