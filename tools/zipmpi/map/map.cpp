// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "map/map.hpp"

#include "map/boxes.hpp"
#include "map/heat.hpp"

#include "base/problem.hpp"
#include "launch/map/by_matrix.hpp"
#include "launch/map/cores.hpp"
#include "launch/map/hosts.hpp"
#include "launch/map/most_ranks.hpp"
#include "mapping/patterns.hpp"
#include "os/host.hpp"
#include "topo/module.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <sys/ioctl.h>
#include <unistd.h>

namespace zipmpi::tool {
namespace {

// A file has room for all.
size_t terminal_columns() {
    constexpr size_t usual = 80;
    if (isatty(STDOUT_FILENO) == 0) return SIZE_MAX;
    winsize size{};
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual;
}

using launch::CpuList;

// What is asked, with all that it takes to answer.
struct Plan {
    topo::Machine machine;
    launch::HostCores cores;
    std::vector<launch::Host> hosts;
    mapping::Matrix matrix; // of no ranks: there is none
    uint32_t ranks = 0;
    launch::NodeMap map;
    std::vector<std::vector<CpuList>> placed; // of each node
};

bool say(const Problem& p) {
    report(p, "zipmpi map");
    return false;
}

bool read_matrix(const MapOptions& o, mapping::Matrix& matrix) {
    Problem why;
    const bool by_comm = o.map_by.starts_with("comm:");
    const std::string file = !o.matrix.empty() ? o.matrix : by_comm ? o.map_by.substr(5) : "";
    if (!o.pattern.empty() && !mapping::pattern_named(o.pattern, matrix))
        return say({"the pattern is not known", "--pattern " + o.pattern,
                    "there is none of this name and size",
                    "write halo:16x16, halo:4x4x4, ring:8, cg:16, mg:64, lu:16, all:8 or random:32:4:1"});
    if (!o.pattern.empty() || file.empty()) return true;
    return launch::read_matrix_file(file, matrix, why) || say(why);
}

bool read_machine(const MapOptions& o, Plan& p) {
    const bool known = topo::read_machine(p.machine, o.machine.empty() ? nullptr : o.machine.c_str());
    if (o.machine.empty()) {
        p.cores = launch::allowed_cores(p.machine);
        return true;
    }
    if (!known)
        return say({"the machine is not understood", "--machine " + o.machine,
                    "hwloc does not take this description",
                    "write for example: --machine \"package:2 l3:4 core:8 pu:1\"; `lstopo --of synthetic` "
                    "prints one"});
    CpuList all;
    for (const topo::CpuPlace& c : p.machine.cpus) all.push_back(c.cpu);
    std::sort(all.begin(), all.end());
    p.cores = launch::cores_of(p.machine, all);
    return true;
}

bool choose_hosts(const MapOptions& o, Plan& p) {
    std::string wrong;
    if (!o.host.empty() && !launch::parse_host_option(o.host, p.hosts, wrong))
        return say({"the list of hosts is not understood", "--host " + o.host,
                    "'" + wrong + "' is not a host", "write for example: --host node1:4,node2:4"});
    uint64_t slots = 0;
    for (const launch::Host& h : p.hosts) slots += h.slots;
    const uint64_t ranks = o.ranks != 0          ? o.ranks
                           : p.matrix.ranks != 0 ? p.matrix.ranks
                           : slots != 0          ? slots
                                                 : p.cores.size();
    if (Problem why; !launch::few_enough(ranks, "command line", why)) return say(why);
    p.ranks = static_cast<uint32_t>(ranks);
    if (p.matrix.ranks != 0 && p.matrix.ranks != p.ranks)
        return say({"the communication matrix is of another job", "command line",
                    fmt::format("it is of {} ranks, and -n says {}", p.matrix.ranks, p.ranks),
                    "leave out -n"});
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
    } else if (launch::unit_named(o.map_by, policy.map_unit) && policy.map_unit != Unit::none) {
        const bool packed = policy.map_unit == Unit::slot || policy.map_unit == Unit::core;
        policy.strategy = packed ? MapStrategy::packed : MapStrategy::round_robin;
    } else {
        return say({"the value of --map-by is not valid", "command line",
                    "'" + o.map_by + "' is not a way to map",
                    "write --map-by spread, slot, core, l2cache, l3cache, numa, socket, node or comm:FILE"});
    }
    return true;
}

// As mpiexec does it on hosts where no other job runs.
bool place(const MapOptions& o, Plan& p) {
    launch::PlacementRequest request;
    Problem why;
    if (!read_policy(o, request.policy)) return false;
    const bool comm = request.policy.strategy == launch::MapStrategy::matrix;
    if (comm && p.matrix.ranks == 0)
        return say({"there is no communication matrix", "--map-by " + o.map_by,
                    "nothing says who talks to whom",
                    "write --map-by comm:FILE, or add --matrix FILE or --pattern NAME"});
    const mapping::Graph graph = mapping::graph_of(p.matrix);
    if (comm)
        p.map = launch::map_ranks_by(graph, p.hosts, mapping::graph_tools());
    else if (!launch::map_ranks(p.hosts, p.ranks, request.policy, p.map, why))
        return say(why);
    const auto talk = launch::talk_within_nodes(graph, p.map);
    request.usable_cores = static_cast<uint32_t>(p.cores.size());
    for (uint32_t node = 0; node < p.hosts.size(); ++node) {
        const std::vector<uint32_t> ranks = p.map.ranks_of(node);
        request.ranks = static_cast<uint32_t>(ranks.size());
        if (comm) {
            p.placed.push_back(
                launch::place_by(launch::graph_of(talk, ranks), request, p.cores, mapping::graph_tools()));
            continue;
        }
        launch::Placement placed;
        if (!launch::place(request, p.cores, placed, why)) return say(why);
        p.placed.emplace_back();
        for (launch::Seat& seat : placed.seats) p.placed.back().push_back(std::move(seat.cpus));
    }
    return true;
}

// Costs on the cores of one node, or over hosts.
std::vector<NamedCost> costs_of(const Plan& p) {
    const mapping::Graph graph = mapping::graph_of(p.matrix);
    mapping::Targets targets;
    const std::vector<topo::Place>& places = p.cores.places;
    mapping::CoreOrder order = mapping::spread_order(places);
    if (p.hosts.size() == 1) {
        targets = mapping::cores_as_targets(places, p.ranks, order);
    } else {
        std::vector<uint32_t> room;
        for (uint32_t node = 0; node < p.hosts.size(); ++node)
            room.push_back(static_cast<uint32_t>(p.map.ranks_of(node).size()));
        targets = mapping::nodes_as_targets(room);
    }
    mapping::Effort effort;
    effort.tools = mapping::graph_tools();
    const auto cost = [&](const mapping::Assignment& a) { return mapping::cost_of(graph, targets, a); };
    return {{"ranks in their order", cost(mapping::fill(p.ranks, targets))},
            {"round robin", cost(p.hosts.size() == 1 ? mapping::in_turn(p.ranks, order)
                                                     : mapping::take_turns(p.ranks, targets))},
            {"best found", cost(mapping::best_assignment(graph, targets, effort))}};
}

bool write_file(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary);
    if (file << text && file.flush()) return true;
    return say(
        {"a file cannot be written", path, "the system refused it", "check its folder and your rights"});
}

bool show_placement(const MapOptions& o, const Plan& p) {
    std::vector<Box> nodes;
    for (uint32_t node = 0; node < p.hosts.size(); ++node)
        nodes.push_back(box_of(
            {fmt::format("node {}, {}", node, p.hosts[node].name), p.map.ranks_of(node), p.placed[node]},
            p.machine, p.cores.cpus));
    std::fputs(text_of(nodes).c_str(), stdout);
    return o.svg.empty() ||
           write_file(o.svg, svg_of(std::move(nodes), fmt::format("{} ranks by {}", p.ranks, o.map_by)));
}

bool show_matrix(const MapOptions& o, const Plan& p) {
    if (p.matrix.ranks == 0) {
        return o.heat.empty() ||
               say({"there is no communication matrix", "--heat " + o.heat, "nothing says who talks to whom",
                    "add --matrix FILE or --pattern NAME"});
    }
    const std::vector<NamedCost> costs = costs_of(p);
    std::fputs(("\n" + heat_text(p.matrix, terminal_columns()) + "\n" + costs_text(costs)).c_str(), stdout);
    const std::string name = !o.pattern.empty() ? o.pattern : o.matrix.empty() ? o.map_by : o.matrix;
    return o.heat.empty() ||
           write_file(o.heat, heat_svg(p.matrix, costs, "messages of " + name.substr(name.rfind('/') + 1)));
}

} // namespace

int run_map(const MapOptions& o) {
    Plan p;
    if (!read_matrix(o, p.matrix) || !read_machine(o, p) || !choose_hosts(o, p) || !place(o, p)) return 2;
    if (!o.write.empty() && !write_file(o.write, mapping::print(p.matrix))) return 1;
    return show_placement(o, p) && show_matrix(o, p) ? 0 : 1;
}

} // namespace zipmpi::tool
