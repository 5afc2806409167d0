// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "map/map.hpp"

#include "json.hpp"
#include "map/heat_map.hpp"
#include "map/size_table.hpp"
#include "map/topology_view.hpp"

#include "base/diagnostic.hpp"
#include "hwtopo/topology_module.hpp"
#include "launch/placement/by_traffic.hpp"
#include "launch/placement/cores.hpp"
#include "launch/placement/host_list.hpp"
#include "launch/placement/max_ranks.hpp"
#include "mapping/patterns.hpp"
#include "os/host.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <sys/ioctl.h>
#include <unistd.h>

namespace zipmpi::tool {
namespace {

// No limit for a file.
size_t terminal_columns() {
    constexpr size_t usual = 80;
    if (isatty(STDOUT_FILENO) == 0) return SIZE_MAX;
    winsize size{};
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual;
}

using launch::CpuList;

// The request, with all data for the answer, as text, JSON or pictures.
struct MapInput {
    hwtopo::Machine machine;
    launch::HostCores cores;
    std::vector<launch::Host> hosts;
    mapping::Matrix matrix; // no ranks: no matrix
    uint32_t ranks = 0;
    launch::NodeMap map;
    std::vector<std::vector<CpuList>> placed; // by node
    std::vector<NamedCost> costs;             // of placements, if there is a matrix
    std::vector<SizeClass> sizes;             // of messages, if the matrix file has them
};

bool report_failure(const Diagnostic& p) {
    report(p, "zipmpi map");
    return false;
}

std::string matrix_path(const MapOptions& o) {
    const bool by_comm = o.map_by.starts_with("comm:");
    return !o.matrix.empty() ? o.matrix : by_comm ? o.map_by.substr(5) : "";
}

bool read_matrix(const MapOptions& o, mapping::Matrix& matrix) {
    Diagnostic why;
    const std::string file = matrix_path(o);
    if (!o.pattern.empty() && !mapping::parse_pattern(o.pattern, matrix))
        return report_failure(
            {"the pattern is not known", "--pattern " + o.pattern,
             "there is no pattern of this name and size",
             "write halo:16x16, halo:4x4x4, ring:8, cg:16, mg:64, lu:16, all:8 or random:32:4:1"});
    if (!o.pattern.empty() || file.empty()) return true;
    return launch::read_matrix_file(file, matrix, why) || report_failure(why);
}

bool read_machine(const MapOptions& o, MapInput& p) {
    const bool known = hwtopo::read_machine(p.machine, o.machine.empty() ? nullptr : o.machine.c_str());
    if (o.machine.empty()) {
        p.cores = launch::allowed_cores(p.machine);
        return true;
    }
    if (!known)
        return report_failure(
            {"the machine is not valid", "--machine " + o.machine, "hwloc rejects this description",
             "write for example: --machine \"package:2 l3:4 core:8 pu:1\"; `lstopo --of synthetic` "
             "prints one"});
    CpuList all;
    for (const hwtopo::CpuLocality& c : p.machine.cpus) all.push_back(c.cpu);
    std::sort(all.begin(), all.end());
    p.cores = launch::cores_of(p.machine, all);
    return true;
}

bool choose_hosts(const MapOptions& o, MapInput& p) {
    std::string wrong;
    if (!o.host.empty() && !launch::parse_host_option(o.host, p.hosts, wrong))
        return report_failure({"the list of hosts is not valid", "--host " + o.host,
                               "'" + wrong + "' is not a host", "write for example: --host node1:4,node2:4"});
    uint64_t slots = 0;
    for (const launch::Host& h : p.hosts) slots += h.slots;
    const uint64_t ranks = o.ranks != 0          ? o.ranks
                           : p.matrix.ranks != 0 ? p.matrix.ranks
                           : slots != 0          ? slots
                                                 : p.cores.size();
    if (Diagnostic why; !launch::check_rank_count(ranks, "command line", why)) return report_failure(why);
    p.ranks = static_cast<uint32_t>(ranks);
    if (p.matrix.ranks != 0 && p.matrix.ranks != p.ranks)
        return report_failure({"the communication matrix does not match the job", "command line",
                               fmt::format("it is for {} ranks, and -n is {}", p.matrix.ranks, p.ranks),
                               "remove -n"});
    if (p.hosts.empty()) p.hosts.push_back({o.machine.empty() ? os::host_name() : "node", p.ranks});
    return true;
}

bool read_policy(const MapOptions& o, launch::PlacementPolicy& policy) {
    using launch::MapStrategy;
    using launch::Unit;
    if (o.map_by.starts_with("comm")) {
        policy.strategy = MapStrategy::matrix;
    } else if (o.map_by == "spread") {
        policy.strategy = MapStrategy::spread;
    } else if (launch::parse_unit(o.map_by, policy.map_unit) && policy.map_unit != Unit::none) {
        const bool packed = policy.map_unit == Unit::slot || policy.map_unit == Unit::core;
        policy.strategy = packed ? MapStrategy::packed : MapStrategy::round_robin;
    } else {
        return report_failure(
            {"the value of --map-by is not valid", "command line", "'" + o.map_by + "' is not a mapping",
             "write --map-by spread, slot, core, l2cache, l3cache, numa, socket, node or comm:FILE"});
    }
    return true;
}

// As in mpiexec on hosts without other jobs.
bool place_ranks(const MapOptions& o, MapInput& p) {
    launch::PlacementRequest request;
    Diagnostic why;
    if (!read_policy(o, request.policy)) return false;
    const bool comm = request.policy.strategy == launch::MapStrategy::matrix;
    if (comm && p.matrix.ranks == 0)
        return report_failure({"there is no communication matrix", "--map-by " + o.map_by,
                               "the traffic between ranks is unknown",
                               "write --map-by comm:FILE, or add --matrix FILE or --pattern NAME"});
    const mapping::Graph graph = mapping::graph_of(p.matrix);
    if (comm)
        p.map = launch::map_ranks_by_traffic(graph, p.hosts, mapping::graph_tools());
    else if (!launch::map_ranks(p.hosts, p.ranks, request.policy, p.map, why))
        return report_failure(why);
    const auto node_traffic = launch::traffic_within_nodes(graph, p.map);
    request.usable_cores = static_cast<uint32_t>(p.cores.size());
    for (uint32_t node = 0; node < p.hosts.size(); ++node) {
        const std::vector<uint32_t> ranks = p.map.ranks_of(node);
        request.ranks = static_cast<uint32_t>(ranks.size());
        if (comm) {
            p.placed.push_back(launch::assign_cpus_by_traffic(
                launch::local_traffic_graph(node_traffic, ranks), request, p.cores, mapping::graph_tools()));
            continue;
        }
        launch::Placement placed;
        if (!launch::assign_cpus(request, p.cores, placed, why)) return report_failure(why);
        p.placed.emplace_back();
        for (launch::RankCpus& binding : placed.rank_cpus) p.placed.back().push_back(std::move(binding.cpus));
    }
    return true;
}

// Costs on the cores of one node, or over hosts.
std::vector<NamedCost> costs_of(const MapInput& p) {
    const mapping::Graph graph = mapping::graph_of(p.matrix);
    mapping::Targets targets;
    const std::vector<hwtopo::Locality>& localities = p.cores.localities;
    mapping::CoreOrder order = mapping::spread_order(localities);
    if (p.hosts.size() == 1) {
        targets = mapping::cores_as_targets(localities, p.ranks, order);
    } else {
        std::vector<uint32_t> capacity;
        for (uint32_t node = 0; node < p.hosts.size(); ++node)
            capacity.push_back(static_cast<uint32_t>(p.map.ranks_of(node).size()));
        targets = mapping::nodes_as_targets(capacity);
    }
    mapping::Effort effort;
    effort.tools = mapping::graph_tools();
    const auto cost = [&](const mapping::Assignment& a) { return mapping::cost_of(graph, targets, a); };
    return {{"ranks in order", cost(mapping::assign_block(p.ranks, targets))},
            {"round robin", cost(p.hosts.size() == 1 ? mapping::assign_round_robin(p.ranks, order)
                                                     : mapping::assign_cyclic(p.ranks, targets))},
            {"best found", cost(mapping::assign_ranks(graph, targets, effort))}};
}

bool write_file(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary);
    if (file << text && file.flush()) return true;
    return report_failure(
        {"a file cannot be written", path, "the system call failed", "check the folder and its permissions"});
}

std::vector<SizeClass> read_sizes(const MapOptions& o) {
    if (!o.pattern.empty()) return {};
    std::ifstream file(matrix_path(o), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    return message_sizes(text);
}

// For --json. cpus: empty if the rank is not bound.
Json facts_of(const MapOptions& o, const MapInput& p) {
    Json nodes = Json::array();
    for (uint32_t node = 0; node < p.hosts.size(); ++node) {
        const std::vector<uint32_t> of_node = p.map.ranks_of(node);
        Json ranks = Json::array();
        for (size_t i = 0; i < of_node.size(); ++i)
            ranks.push_back({{"rank", of_node[i]}, {"cpus", Json(p.placed[node][i])}});
        nodes.push_back({{"node", node}, {"host", p.hosts[node].name}, {"ranks", ranks}});
    }
    Json facts{{"world_size", p.ranks}, {"map_by", o.map_by}, {"nodes", nodes}};
    if (p.matrix.ranks == 0) return facts;
    Json costs = Json::array();
    for (const NamedCost& c : p.costs) costs.push_back({{"placement", c.name}, {"cost", c.cost}});
    Json sizes = Json::array();
    for (const SizeClass& c : p.sizes)
        sizes.push_back({{"smallest_bytes", c.smallest}, {"messages", c.messages}});
    facts["costs"] = costs;
    facts["message_sizes"] = sizes;
    return facts;
}

bool show_placement(const MapOptions& o, const MapInput& p) {
    std::vector<Box> nodes;
    for (uint32_t node = 0; node < p.hosts.size(); ++node)
        nodes.push_back(box_of(
            {fmt::format("node {}, {}", node, p.hosts[node].name), p.map.ranks_of(node), p.placed[node]},
            p.machine, p.cores.cpus));
    if (!o.json) std::fputs(text_of(nodes).c_str(), stdout);
    return o.svg.empty() ||
           write_file(o.svg, svg_of(std::move(nodes), fmt::format("{} ranks by {}", p.ranks, o.map_by)));
}

bool show_matrix(const MapOptions& o, const MapInput& p) {
    if (p.matrix.ranks == 0) {
        return o.heatmap.empty() ||
               report_failure({"there is no communication matrix", "--heatmap " + o.heatmap,
                               "the traffic between ranks is unknown",
                               "add --matrix FILE or --pattern NAME"});
    }
    if (!o.json) {
        std::string text = "\n" + heat_map_text(p.matrix, terminal_columns()) + "\n" + costs_text(p.costs);
        if (const std::string table = size_table(p.sizes); !table.empty()) text += "\n" + table;
        std::fputs(text.c_str(), stdout);
    }
    const std::string name = !o.pattern.empty() ? o.pattern : o.matrix.empty() ? o.map_by : o.matrix;
    return o.heatmap.empty() ||
           write_file(o.heatmap,
                      heat_map_svg(p.matrix, p.costs, "messages of " + name.substr(name.rfind('/') + 1)));
}

} // namespace

int run_map(const MapOptions& o) {
    MapInput p;
    if (!read_matrix(o, p.matrix) || !read_machine(o, p) || !choose_hosts(o, p) || !place_ranks(o, p))
        return 2;
    if (!o.write.empty() && !write_file(o.write, mapping::print(p.matrix))) return 1;
    if (p.matrix.ranks != 0) {
        p.costs = costs_of(p);
        p.sizes = read_sizes(o);
    }
    if (!show_placement(o, p) || !show_matrix(o, p)) return 1;
    if (o.json) std::puts(facts_of(o, p).dump(2).c_str());
    return 0;
}

} // namespace zipmpi::tool
